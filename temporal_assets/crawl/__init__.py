"""A copy of the web to crawl on paper, and crawls of it.

Here: the mirror with its sources, and the evaluation of crawl orders on it. Not here: the
simulators themselves (`core`).
"""
