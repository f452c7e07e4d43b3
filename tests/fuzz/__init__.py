"""Fuzzing of every parser: `python -m tests.fuzz` (docs/security.md). Not part of `pytest`."""
