"""Numerical tools without a subject: compiled loops, regressions, measures, trees as arrays."""
