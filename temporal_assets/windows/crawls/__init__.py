"""Simulated crawls of a window: crawl orders on the mirror, and arriving in time."""
