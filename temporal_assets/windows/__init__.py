"""Bodies of the window assets: plain functions from days and other windows to partitions.

A window asset of a day covers the `window.days` days that end with it. `asset` says what one is
and runs it, `registry` lists them all and says which are out of date; each is a module of its own
name. The other modules are what several of them share (`incremental` finds an earlier window to go
on from, `days`, `scored`, `sections`, `trials`, ...), a part of one that is large (`hub_order`,
`page_traffic_incremental`, `pattern_nodes`, `report_rows`, ...), or `tuning`, which is a command's.
Not here: Dagster (`defs`), the daily assets (`daily`), mathematics (`core`).
"""
