"""Runs and their fate: batches, retries, lost and finished runs, events and tags."""
