-- crawl_transits: F_trans between pages of a site (BB 2): distinct clients that went from one to
--   the other
-- inputs: transits, crawled_sites
-- parameters: none
-- output: crawl_transits
-- grain: referrer, target
WITH pairs AS (
    SELECT
        regexp_replace(split_part(target, '/', 3), ':[0-9]+$', '') AS site,
        regexp_replace(split_part(referrer, '/', 3), ':[0-9]+$', '') AS referrer_site,
        referrer,
        target,
        count(DISTINCT client) AS clients
    FROM transits
    WHERE referrer IS NOT NULL
    GROUP BY referrer, target
)

SELECT pairs.site, pairs.referrer, pairs.target, pairs.clients
FROM pairs
INNER JOIN crawled_sites ON crawled_sites.site = pairs.site
WHERE pairs.referrer_site = pairs.site
ORDER BY pairs.site, pairs.referrer, pairs.target
