"""`temporal-assets evaluate`: lists and crawl orders judged, and the mirror to crawl."""
