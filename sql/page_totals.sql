-- page_totals: views and birth of every page in a window, from all its days
-- inputs: page_views
-- parameters: day
-- output: page_totals
-- grain: url
SELECT $day AS day, site, url, sum(views) AS total, min(page_views.day) AS birth
FROM page_views
GROUP BY site, url
ORDER BY site, url
