"""Judging one day of a table by the rules of its contract.

`measure` has the engine compute the numbers, `evaluate` says which numbers are expected,
`expectations` lets Great Expectations compare the two, `inspect` does all three for a day,
`verdicts` remembers the outcome and `asset_checks` tells Dagster. `log_files` judges the files
that days are read from. Not here: the rules themselves (`contracts`).
"""
