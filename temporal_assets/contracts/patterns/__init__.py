"""Contracts of the window tables of URL patterns."""
