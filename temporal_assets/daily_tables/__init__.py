"""What the tables of a day are made by, each from the one before it: requests, and transits.

Here: how their rows come about. Not here: which days are made, and publishing them (`daily`).
"""
