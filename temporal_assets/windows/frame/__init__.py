"""The frame of all window assets: inputs, incremental updates, numbers of pages, the registry."""
