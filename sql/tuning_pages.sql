-- tuning_pages: what choosing weights and thresholds of lists needs to know of each page
-- inputs: page_labels, page_histories
-- parameters: day
-- output: tuning_pages
-- grain: url
SELECT
    page_labels.site AS site,
    page_labels.url AS url,
    is_temporal,
    is_news,
    -- The label of a page that nothing is known of is no truth.
    phi_n IS NOT NULL AND has_concentration AS is_known,
    -- No younger page can be news, whatever its views are.
    is_news OR date_diff('day', birth, $day) + 1 > m * p AS is_aged,
    birth,
    total
FROM page_labels
INNER JOIN page_histories ON page_histories.url = page_labels.url
ORDER BY page_labels.site, page_labels.url
