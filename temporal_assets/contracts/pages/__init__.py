"""Contracts of the window tables of pages."""
