"""Crawls: the instant crawler, the Scrapy add-on, their results, and simulated crawls.

Crawls are simulated on a mirror: a stored copy of sites' pages and links. Not here: the simulators
themselves (`core.crawls`), the policy that crawls follow (`policy`).
"""
