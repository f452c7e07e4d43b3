-- counted_views: page_views with the views of sources that name no client
-- inputs: page_views, counts
-- parameters: none
-- output: page_views
-- grain: url, day
SELECT day, site, url, sum(views) AS views
FROM (
    SELECT day, site, url, views FROM page_views
    UNION ALL
    SELECT day, site, url, views FROM counts WHERE views > 0
) AS both_kinds
GROUP BY day, site, url
ORDER BY site, url
