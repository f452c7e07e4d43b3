-- migrate_transits_from_1: requests that have the transits of a day that named URLs, and all its pages:
--   what is made of these has numbers. A page that was loaded again has a view and no transit
-- inputs: transits, page_views
-- parameters: none
-- output: earlier_requests
-- grain: none
SELECT views.day, views.url, transits.referrer, transits.client, views.site
FROM transits
INNER JOIN page_views AS views ON views.url = transits.target
UNION ALL
SELECT day, url, url AS referrer, CAST(0 AS BIGINT) AS client, site
FROM page_views
