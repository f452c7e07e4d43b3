"""Dagster definitions: assets, checks, jobs, schedules and sensors, without any computation.

An asset's body is a few lines ("shell"): read the days of the run, call one function per day,
attach metadata. Everything is made by functions that take the settings, so that no module reads
settings, files or the clock when it is imported. Only `build` and `operate` import this.
"""
