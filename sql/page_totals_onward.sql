-- page_totals_onward: the same as page_totals, from the totals of an earlier window, the days that
--   have entered since and those that have left. No day between them is read: the bits of `seen`
--   are shifted, so that days that leave drop out, and the lowest one left is the birth.
-- inputs: earlier, entering, leaving
-- parameters: day, first, moved
-- output: page_totals
-- grain: url
WITH changes AS (
    SELECT site, url, sum(views) AS views, bit_or(seen) AS seen
    FROM (
        SELECT
            site,
            url,
            views,
            CAST(1 AS BIGINT) << CAST(date_diff('day', $first, day) AS INTEGER) AS seen
        FROM entering
        UNION ALL
        SELECT site, url, -views AS views, CAST(0 AS BIGINT) AS seen FROM leaving
    ) AS moved
    GROUP BY site, url
),
pages AS (
    SELECT
        coalesce(earlier.site, changes.site) AS site,
        coalesce(earlier.url, changes.url) AS url,
        coalesce(earlier.total, 0) + coalesce(changes.views, 0) AS total,
        coalesce(earlier.seen >> $moved, 0) | coalesce(changes.seen, 0) AS seen
    FROM earlier
    FULL OUTER JOIN changes ON changes.url = earlier.url
)
SELECT
    $day AS day,
    site,
    url,
    total,
    $first + CAST(bit_count((seen & -seen) - 1) AS INTEGER) AS birth,
    seen
FROM pages
WHERE total > 0
ORDER BY site, url
