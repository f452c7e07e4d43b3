-- crawl_transits: F_trans to pages of some sites (BB 2): distinct clients that went there from a
--   page of any site
-- inputs: transits, crawled_sites
-- parameters: site
-- output: crawl_transits
-- grain: referrer, target
SELECT
    crawled_sites.site,
    transits.referrer,
    transits.target,
    count(DISTINCT transits.client) AS clients
FROM transits
INNER JOIN crawled_sites ON crawled_sites.site = regexp_extract(transits.target, $site, 1)
WHERE transits.referrer IS NOT NULL
GROUP BY crawled_sites.site, transits.referrer, transits.target
ORDER BY crawled_sites.site, transits.referrer, transits.target
