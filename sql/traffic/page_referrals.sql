-- page_referrals: F_out (BB 2): distinct pairs of a target and a client who came there from a page
-- inputs: page_transits
-- parameters: none
-- output: page_referrals
-- grain: page
SELECT referrer AS page, count(*) AS referrals
FROM page_transits
WHERE referrer IS NOT NULL
GROUP BY referrer
ORDER BY page
