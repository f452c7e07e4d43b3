"""The assets, one module per thing that is made."""
