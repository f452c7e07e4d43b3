-- page_views: distinct clients per page and day (TW 4.1: several requests of one client to one
--   page on one day count once)
-- inputs: requests
-- parameters: none
-- output: page_views
-- grain: url, day
SELECT day, site, url, count(DISTINCT client) AS views
FROM requests
GROUP BY day, site, url
ORDER BY site, url
