"""Contracts of the daily tables."""
