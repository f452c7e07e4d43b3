-- weekly_histories: histories of pages with the views of their site: for each day of the window, a
--   number that begins with the place of the day (above bit 40), so that a sorted list is in order
-- inputs: page_histories
-- parameters: days
-- output: weekly_histories
-- grain: url
WITH site_days AS (
    SELECT site, place, sum(views) AS views
    FROM (
        SELECT site, unnest(range($days)) AS place, unnest(views) AS views
        FROM page_histories
    )
    GROUP BY site, place
),

sites AS (
    SELECT site, list_sort(list(CAST(place * 1099511627776 + views AS BIGINT))) AS site_days
    FROM site_days
    GROUP BY site
)

SELECT lives.day, lives.site, lives.url, lives.views, sites.site_days
FROM page_histories AS lives
INNER JOIN sites ON sites.site = lives.site
ORDER BY lives.site, lives.url
