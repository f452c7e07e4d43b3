"""Dagster shells and nothing else: what runs when, and what is said about it.

An asset's body is a few lines: read the days of the run, call one function per day, attach
metadata. Everything is made by functions that take the settings, so that no module reads
settings, files or the clock when it is imported. Nobody but `build` and `operate` imports this.
"""
