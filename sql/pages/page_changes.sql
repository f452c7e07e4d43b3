-- page_changes: what the days that have come to a window and those that have left it change of its
--   pages, in the order of page_totals: views more or less, and days seen on as bits
-- inputs: entering, leaving
-- parameters: first
-- output: page_changes
-- grain: url
-- engine: duckdb
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
ORDER BY site, url
