-- site_days: views of each site on each day of the window, of reliable pages
-- inputs: page_histories
-- parameters: days
-- output: site_days
-- grain: site, place
SELECT site, place, CAST(sum(views) AS BIGINT) AS views
FROM (
    SELECT site, unnest(range($days)) AS place, unnest(views) AS views
    FROM page_histories
)
GROUP BY site, place
ORDER BY site, place
