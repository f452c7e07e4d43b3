"""The evaluation report of a window: the rows it needs, and its assembly."""
