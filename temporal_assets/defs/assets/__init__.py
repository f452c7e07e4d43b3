"""The assets, one module for each step of the pipeline."""
