"""Numerical tools that no subject owns: compiled loops, regressions, measures, trees as arrays."""
