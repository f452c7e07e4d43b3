"""Drawing: one renderer for the report, for pages of commands, and, as PNG, for Dagster."""
