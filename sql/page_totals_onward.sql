-- page_totals_onward: the same as page_totals, from the totals of an earlier window, the days that
--   have entered since and those that have left. Where the birth has left with its day, the new one
--   is looked up in the days of the window (page_views).
-- inputs: earlier, entering, leaving, page_views
-- parameters: day, first
-- output: page_totals
-- grain: url
SELECT $day AS day, site, url, sum(total) AS total, min(birth) AS birth
FROM (
    SELECT site, url, total, CASE WHEN birth >= $first THEN birth END AS birth FROM earlier
    UNION ALL
    SELECT site, url, views AS total, entering.day AS birth FROM entering
    UNION ALL
    SELECT site, url, -views AS total, CAST(NULL AS DATE) AS birth FROM leaving
    UNION ALL
    SELECT site, url, 0 AS total, min(page_views.day) AS birth
    FROM page_views
    WHERE url IN (SELECT url FROM earlier WHERE birth < $first)
    GROUP BY site, url
) AS changes
GROUP BY site, url
HAVING sum(total) > 0
ORDER BY site, url
