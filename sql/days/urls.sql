-- urls: every URL of a day by number, which is that of its row: pages that were opened, in the order of
--   page_views, and behind them, in the same order, those that people only came from, or to which a
--   source counts transits and no views
-- inputs: requests, counts
-- parameters: site
-- output: urls
-- grain: url, day
WITH named AS (
    SELECT day, url, max(site) AS site
    FROM (
        SELECT day, url, site FROM requests
        UNION ALL
        SELECT day, referrer AS url, CAST(NULL AS VARCHAR) AS site
        FROM requests
        WHERE referrer IS NOT NULL
        UNION ALL
        SELECT day, url, CASE WHEN views > 0 THEN site END AS site FROM counts
        UNION ALL
        SELECT day, referrer AS url, CAST(NULL AS VARCHAR) AS site
        FROM counts
        WHERE referrer IS NOT NULL
    ) AS ends
    GROUP BY day, url
),

urls AS (
    SELECT
        day,
        CASE WHEN site IS NULL THEN 1 ELSE 0 END AS part,
        coalesce(site, regexp_extract(url, $site, 1)) AS site,
        url
    FROM named
),

-- Places within a site, and where the site begins: no order over all URLs has to be found.
sites AS (
    SELECT part, site, sum(urls) OVER (ORDER BY part, site) - urls AS first
    FROM (SELECT part, site, count(*) AS urls FROM urls GROUP BY part, site) AS sizes
)

SELECT
    urls.day,
    sites.first
    + row_number() OVER (PARTITION BY urls.part, urls.site ORDER BY urls.url) - 1 AS number,
    urls.site,
    urls.url,
    urls.part = 0 AS is_opened
FROM urls
INNER JOIN sites ON sites.part = urls.part AND sites.site = urls.site
ORDER BY number
