-- crawl_transits: F_trans to pages of some sites (BB 2): distinct clients that went there from a
--   page of any site
-- inputs: transits, crawled_sites
-- parameters: site
-- output: crawl_transits
-- grain: referrer, target
WITH pairs AS (
    SELECT
        regexp_extract(target, $site, 1) AS site,
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
ORDER BY pairs.site, pairs.referrer, pairs.target
