"""Bodies of the window assets: plain functions from days and other windows to partitions.

A window asset of a day covers the `window.days` days that end with it. `frame.asset` defines what a
window asset is and builds it, `registry` lists them all and finds those out of date. Each asset has
a module of its own name; the other modules are shared by several assets (`incremental`, `days`,
`scored`, `sections`, `trials`, ...) or are a part of a large one (`hub_candidates`,
`pattern_nodes`, `report_rows`, ...). `tuning` belongs to the command `try rules`.

Not here: Dagster (`defs`), the daily assets (`days`), mathematics (`core`).
"""
