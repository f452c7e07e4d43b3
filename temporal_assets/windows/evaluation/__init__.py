"""Lists and hubs judged out of time: what was published against the list in use and baselines."""
