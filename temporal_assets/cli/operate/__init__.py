"""Commands that operate: log sources and the servers of Dagster."""
