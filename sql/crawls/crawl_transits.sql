-- crawl_transits: F_trans to pages of some sites in some periods (BB 2): distinct clients that went
--   there from a page of any site
-- inputs: crawl_triples
-- parameters: first, second, third
-- output: crawl_transits
-- grain: referrer, target
SELECT target_site AS site, referrer, target, count(*) AS clients
FROM crawl_triples
WHERE
    target_site IS NOT NULL
    AND referrer IS NOT NULL
    AND ((in_first AND $first) OR (in_second AND $second) OR (in_third AND $third))
GROUP BY target_site, referrer, target
ORDER BY target_site, referrer, target
