-- tuning_pages: what choosing weights and thresholds of lists needs to know of each page
-- inputs: page_labels, page_histories
-- parameters: first, days, seen_before
-- output: tuning_pages
-- grain: url
SELECT
    site,
    url,
    is_temporal,
    is_news,
    is_known,
    -- No younger page can be news, whatever its views are.
    is_news OR list_extract(seen_before, $days + 1) - list_extract(seen_before, born)
        > (list_extract(seen_before, least(born + m, $days + 1)) - list_extract(seen_before, born))
            * p AS is_aged,
    birth,
    total
FROM (
    SELECT
        page_labels.site,
        page_labels.url,
        is_temporal,
        is_news,
        -- The label of a page that nothing is known of is no truth.
        phi_n IS NOT NULL AND has_concentration AS is_known,
        CAST(m AS INTEGER) AS m,
        p,
        birth,
        total,
        CAST(date_diff('day', $first, birth) + 1 AS INTEGER) AS born,
        -- Of the window's days, how many are there before each, and in all.
        CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before
    FROM page_labels
    INNER JOIN page_histories ON page_histories.url = page_labels.url
)
ORDER BY site, url
