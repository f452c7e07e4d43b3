"""Runs of Dagster: batches, retries, lost and finished runs, events and tags."""
