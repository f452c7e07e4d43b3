"""Tables instead of log lines: Parquet logs, annotated pages, lists of sites."""
