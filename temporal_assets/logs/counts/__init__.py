"""Counts of views: sources that say how often a page was opened, but not by whom."""
