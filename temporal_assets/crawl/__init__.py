"""Crawling by a policy: the Scrapy add-on and the instant crawler.

Not here: the policy and its matcher (`policy`). Modules that need Scrapy say so in their name or
their first line; it is an extra (`pip install 'temporal-assets[scrapy]'`).
"""
