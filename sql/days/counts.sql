-- counts: views of pages by day from sources that name no client. A view is one client on one day, so
--   visitors count where a source has them; the most that any row has are different ones
-- inputs: count_segments
-- parameters: none
-- output: counts
-- grain: url, referrer, day
SELECT
    day,
    site,
    url,
    referrer,
    sum(coalesce(visitors, views)) AS views,
    max(visitors) AS clients,
    sum(transits) AS transits
FROM count_segments
GROUP BY day, site, url, referrer
ORDER BY site, url, referrer NULLS FIRST
