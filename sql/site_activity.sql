-- site_activity: when each host was visited, and how much of late
-- inputs: page_views
-- parameters: recent_from
-- output: site_activity
-- grain: host
SELECT
    site AS host,
    min(day) AS first_seen,
    max(day) AS last_seen,
    sum(views) AS all_views,
    sum(CASE WHEN day >= $recent_from THEN views ELSE 0 END) AS recent_views,
    -- On one day a page has as many clients as views.
    max(views) AS clients
FROM page_views
GROUP BY site
ORDER BY site
