"""`temporal-assets evaluate`: lists and crawl orders judged, also out of time."""
