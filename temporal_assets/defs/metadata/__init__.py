"""Metadata of materialisations and assets: what Dagster's UI shows beside a table."""
