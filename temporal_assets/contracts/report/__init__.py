"""The contract of the evaluation report."""
