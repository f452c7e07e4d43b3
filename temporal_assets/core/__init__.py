"""Pure mathematics on arrays: no Dagster, no SQL, no files, no clock, no unseeded randomness."""
