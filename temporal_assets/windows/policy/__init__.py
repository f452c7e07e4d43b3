"""The crawl policy of a window: what crawlers load, assembled from all other tables."""
