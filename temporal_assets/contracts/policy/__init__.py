"""The contract of the crawl policy."""
