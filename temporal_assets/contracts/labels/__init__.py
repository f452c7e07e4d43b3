"""Contracts of the window tables of curves and labels."""
