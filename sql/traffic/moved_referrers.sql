-- moved_referrers: where people came from on a day, in the order of pages
-- inputs: transits
-- parameters: site
-- output: moved_referrers
-- grain: url
SELECT regexp_extract(url, $site, 1) AS site, url
FROM (SELECT DISTINCT referrer AS url FROM transits WHERE referrer IS NOT NULL) AS named
ORDER BY site, url
