-- page_totals_onward: the same as page_totals, from the totals of an earlier window, the days that
--   have entered since and those that have left. Only pages of these days are grouped; all others
--   pass through in the order they have. Where the birth has left with its day, the new one is
--   looked up for the pages that remain: in the first days of the window (early), which most of
--   them are read on, and for the rest in its other days (late).
-- inputs: earlier, entering, leaving, early, late
-- parameters: day, first
-- output: page_totals
-- grain: url
WITH changes AS (
    SELECT site, url, sum(views) AS views, min(entered) AS entered
    FROM (
        SELECT site, url, views, entering.day AS entered FROM entering
        UNION ALL
        SELECT site, url, -views AS views, CAST(NULL AS DATE) AS entered FROM leaving
    ) AS moved
    GROUP BY site, url
),
orphans AS (
    SELECT earlier.url
    FROM earlier
    LEFT JOIN changes ON changes.url = earlier.url
    WHERE earlier.birth < $first AND earlier.total + coalesce(changes.views, 0) > 0
),
found_early AS (
    SELECT url, min(early.day) AS birth
    FROM early
    WHERE url IN (SELECT url FROM orphans)
    GROUP BY url
),
births AS (
    SELECT url, birth FROM found_early
    UNION ALL
    SELECT url, min(late.day) AS birth
    FROM late
    WHERE url IN (SELECT url FROM orphans WHERE url NOT IN (SELECT url FROM found_early))
    GROUP BY url
)
SELECT $day AS day, site, url, total, birth
FROM (
    SELECT
        earlier.site,
        earlier.url,
        earlier.total + coalesce(changes.views, 0) AS total,
        CASE WHEN earlier.birth >= $first THEN earlier.birth ELSE births.birth END AS birth
    FROM earlier
    LEFT JOIN changes ON changes.url = earlier.url
    LEFT JOIN births ON births.url = earlier.url
    WHERE earlier.total + coalesce(changes.views, 0) > 0
    UNION ALL
    SELECT site, url, views AS total, entered AS birth
    FROM changes
    WHERE url NOT IN (SELECT url FROM earlier)
) AS pages
ORDER BY site, url
