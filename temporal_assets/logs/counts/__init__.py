"""Counts of views: sources that say how often a page was opened, and not by whom."""
