-- known_pages: the labels of a window with the views behind them, and whether a page is old enough to
--   have them: a younger one has no curve, or no concentration above p whatever its views are; of
--   the sites that were drawn
-- inputs: page_labels, page_histories
-- parameters: sites_until, first, days, seen_before
-- output: known_pages
-- grain: url
SELECT
    url,
    total,
    birth,
    is_temporal,
    is_news,
    phi_n IS NOT NULL AS has_temporal,
    is_news OR list_extract(seen_before, $days + 1) - list_extract(seen_before, born)
        > (list_extract(seen_before, least(born + m, $days + 1)) - list_extract(seen_before, born))
            * p AS has_news
FROM (
    SELECT
        page_labels.url,
        is_temporal,
        is_news,
        phi_n,
        CAST(m AS INTEGER) AS m,
        p,
        total,
        birth,
        CAST(date_diff('day', $first, birth) + 1 AS INTEGER) AS born,
        -- Of the window's days, how many are there before each, and in all.
        CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before
    FROM page_labels
    INNER JOIN page_histories ON page_histories.url = page_labels.url
    WHERE md5(page_labels.site) <= $sites_until
)
ORDER BY url
