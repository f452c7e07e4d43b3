-- crawl_traffic: what users did with each page of some sites (BB 2): F_in, visits from anywhere or
--   nowhere, and F_out, visits to other pages that came from it; a (target, referrer, client)
--   counts once, on however many days it occurs
-- inputs: transits, crawled_sites
-- parameters: site
-- output: crawl_traffic
-- grain: url
WITH triples AS (
    SELECT DISTINCT referrer, target, client
    FROM transits
),

ends AS (
    SELECT target AS url, count(*) AS visits, 0 AS referrals
    FROM triples
    GROUP BY target
    UNION ALL
    SELECT referrer AS url, 0 AS visits, count(*) AS referrals
    FROM triples
    WHERE referrer IS NOT NULL
    GROUP BY referrer
),

pages AS (
    SELECT
        regexp_extract(url, $site, 1) AS site,
        url,
        sum(visits) AS visits,
        sum(referrals) AS referrals
    FROM ends
    GROUP BY url
)

SELECT pages.site, pages.url, pages.visits, pages.referrals
FROM pages
INNER JOIN crawled_sites ON crawled_sites.site = pages.site
ORDER BY pages.site, pages.url
