"""Alerts: the messages people get when something fails, and their delivery.

Knows nothing of Dagster.
"""
