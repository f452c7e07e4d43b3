-- crawl_transits: F_trans between pages (BB 2): distinct clients that went from one to the other
-- inputs: transits
-- parameters: none
-- output: crawl_transits
-- grain: referrer, target
SELECT referrer, target, count(DISTINCT client) AS clients
FROM transits
WHERE referrer IS NOT NULL
GROUP BY referrer, target
ORDER BY referrer, target
