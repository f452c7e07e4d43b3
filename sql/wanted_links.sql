-- wanted_links: the pages with links to wanted ones (NP 4.2: some transit leads there), wanted ones by
--   their numbers; the rows of a page lie together
-- inputs: transits, wanted
-- parameters: none
-- output: wanted_links
-- grain: referrer, target
SELECT DISTINCT transits.referrer, wanted.page AS target
FROM transits
-- Joined and not looked for with IN: what is read of transits is the referrers of those found.
INNER JOIN wanted ON wanted.url = transits.target
WHERE transits.referrer IS NOT NULL
ORDER BY referrer, target
