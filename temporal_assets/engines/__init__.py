"""Engines that run the SQL files and kernels: DuckDB on one machine, or Spark on a cluster.

Nothing outside this package knows which engine runs.
"""
