"""Alerts: messages to people when something fails, and their delivery; without Dagster."""
