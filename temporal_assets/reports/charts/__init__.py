"""Drawing of charts: one renderer for the report, for pages of commands and for Dagster's PNGs."""
