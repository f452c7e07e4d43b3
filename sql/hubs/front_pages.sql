-- front_pages: of sites without a hub, the front pages that somebody opened, and
--   where nobody did, the page of the site that most people came from on the last day: a cache
--   answers for it, say, or only articles are counted
-- inputs: lonely_sites, page_totals, transits, urls
-- parameters: none
-- output: front_pages
-- grain: url
WITH followed AS (
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

-- Looked for together: all pages of the window are read for it.
named AS (
    SELECT site, 'https://' || site || '/' AS url, CAST(NULL AS BIGINT) AS followers
    FROM lonely_sites
    UNION ALL
    SELECT site, 'http://' || site || '/' AS url, CAST(NULL AS BIGINT) AS followers
    FROM lonely_sites
    UNION ALL
    SELECT site, url, followers
    FROM left_from
    WHERE place = 1
),

known AS (
    SELECT named.site, named.url, named.followers, pages.number
    FROM named
    LEFT JOIN page_totals AS pages ON pages.url = named.url
),

opened AS (
    SELECT site FROM known WHERE followers IS NULL AND number IS NOT NULL
)

SELECT
    row_number() OVER (ORDER BY url) - 1 AS page,
    url,
    number,
    followers
FROM known
WHERE
    (followers IS NULL AND number IS NOT NULL)
    OR (followers IS NOT NULL AND site NOT IN (SELECT opened.site FROM opened))
ORDER BY page
