"""This machine and process: memory, locks, scratch folders, durable writes, faults in words."""
