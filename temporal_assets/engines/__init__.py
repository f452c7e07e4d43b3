"""The one seam for engines: the same `sql/` files on DuckDB or on a cluster.

Nothing outside this package knows which engine runs.
"""
