"""The fault suite: `python -m tests.faults` (docs/faults.md). Slow, so not part of `pytest`."""
