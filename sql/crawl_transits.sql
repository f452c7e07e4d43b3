-- crawl_transits: F_trans to pages of some sites in one period or both (BB 2): distinct clients that went
--   there from a page of any site
-- inputs: crawl_triples
-- parameters: before, since
-- output: crawl_transits
-- grain: referrer, target
SELECT target_site AS site, referrer, target, count(*) AS clients
FROM crawl_triples
WHERE
    target_site IS NOT NULL
    AND referrer IS NOT NULL
    AND ((is_before AND $before) OR (is_since AND $since))
GROUP BY target_site, referrer, target
ORDER BY target_site, referrer, target
