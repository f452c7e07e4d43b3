-- page_totals: views, birth and number of every page in a window, from all its days
-- inputs: page_views
-- parameters: day, first, bits
-- output: page_totals
-- grain: url
WITH totals AS (
    SELECT
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
),

-- Places within a site, and where the site begins: no order over all pages has to be found.
sites AS (
    SELECT site, sum(pages) OVER (ORDER BY site) - pages AS first
    FROM (SELECT site, count(*) AS pages FROM totals GROUP BY site) AS sizes
)

SELECT
    $day AS day,
    totals.site,
    totals.url,
    totals.total,
    totals.birth,
    totals.seen,
    sites.first
    + row_number() OVER (PARTITION BY totals.site ORDER BY totals.url) - 1 AS number
FROM totals
INNER JOIN sites ON sites.site = totals.site
ORDER BY number
