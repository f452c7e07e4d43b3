"""Contracts of the window tables of hubs."""
