"""This machine and process: memory, locks, scratch folders, durable writes, error messages."""
