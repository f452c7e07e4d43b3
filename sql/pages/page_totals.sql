-- page_totals: views and birth of every page in a window, from all its days
-- inputs: page_views
-- parameters: day, first, bits
-- output: page_totals
-- grain: url
SELECT
    $day AS day,
    site,
    url,
    sum(views) AS total,
    min(page_views.day) AS birth,
    bit_or(
        CASE
            WHEN date_diff('day', $first, page_views.day) < $bits THEN
                CAST(1 AS BIGINT) << CAST(date_diff('day', $first, page_views.day) AS INTEGER)
            ELSE 0
        END
    ) AS seen
FROM page_views
GROUP BY site, url
ORDER BY site, url
