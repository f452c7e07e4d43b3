-- temporal_urls: the temporal pages of the window
-- inputs: page_labels
-- parameters: none
-- output: temporal_urls
-- grain: url
SELECT url FROM page_labels WHERE is_temporal ORDER BY url
