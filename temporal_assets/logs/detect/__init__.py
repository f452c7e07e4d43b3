"""Detection of the format of a log from its first lines."""
