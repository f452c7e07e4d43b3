"""What the window assets are: plain functions from days and other windows to partitions.

A window asset of a day covers the `window.days` days that end with it. `asset` says what one is
and runs it, `onward` finds an earlier window to go on from, `registry` lists them all and says
which are out of date; every other module is one asset. Not here: Dagster (`defs`), the daily
assets (`daily`), mathematics (`core`).
"""
