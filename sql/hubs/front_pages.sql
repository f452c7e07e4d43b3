-- front_pages: of sites without a hub, the front pages that somebody opened, and
--   where nobody did, the page of the site that most people came from on the last day: a cache
--   answers for it, say, or only articles are counted
-- inputs: lonely_sites, page_totals, transits, urls
-- parameters: none
-- output: front_pages
-- grain: url
WITH opened AS (
    SELECT pages.site, pages.url
    FROM page_totals AS pages
    INNER JOIN lonely_sites AS sites ON sites.site = pages.site
    WHERE
        pages.url = 'https://' || sites.site || '/'
        OR pages.url = 'http://' || sites.site || '/'
),

followed AS (
    SELECT day, referrer, count(DISTINCT client) AS followers
    FROM transits
    WHERE referrer IS NOT NULL
    GROUP BY day, referrer
),

left_from AS (
    SELECT
        urls.site,
        urls.url,
        followed.followers,
        row_number() OVER (
            PARTITION BY urls.site ORDER BY followed.followers DESC, urls.url
        ) AS place
    FROM followed
    INNER JOIN urls ON urls.day = followed.day AND urls.number = followed.referrer
    INNER JOIN lonely_sites AS sites ON sites.site = urls.site
),

fronts AS (
    SELECT url, CAST(NULL AS BIGINT) AS followers
    FROM opened
    UNION ALL
    SELECT url, followers
    FROM left_from
    WHERE place = 1 AND site NOT IN (SELECT site FROM opened)
)

SELECT
    row_number() OVER (ORDER BY url) - 1 AS page,
    url,
    followers
FROM fronts
ORDER BY page
