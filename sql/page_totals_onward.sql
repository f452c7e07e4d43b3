-- page_totals_onward: the same as page_totals, from the totals of an earlier window, the days that
--   have entered since and those that have left. Where the birth has left with its day, the new one
--   is looked up in the first days of the window (early), which most of these pages are read on,
--   and for the rest in all its days (page_views).
-- inputs: earlier, entering, leaving, early, page_views
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
    SELECT site, url, 0 AS total, min(early.day) AS birth
    FROM early
    WHERE url IN (SELECT url FROM earlier WHERE birth < $first)
    GROUP BY site, url
    UNION ALL
    SELECT site, url, 0 AS total, min(page_views.day) AS birth
    FROM page_views
    WHERE url IN (
        SELECT url FROM earlier WHERE birth < $first AND url NOT IN (SELECT url FROM early)
    )
    GROUP BY site, url
) AS changes
GROUP BY site, url
HAVING sum(total) > 0
ORDER BY site, url
