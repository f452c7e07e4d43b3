"""The window table of traffic: what people did on every page, in full or incrementally."""
