"""Checks of the tables: measuring each day, comparing with expectations, recording verdicts.

`measure` has the engine compute the numbers, `evaluate` says which numbers are expected,
`expectations` lets Great Expectations compare the two, `inspect` does all three for a day,
`verdicts` records the outcome and `asset_checks` reports it to Dagster. `log_files` checks the
files that days are read from. Not here: the rules themselves (`contracts`).
"""
