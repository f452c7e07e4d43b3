-- site_activity: when each host was visited, and how much of late
-- inputs: page_views
-- parameters: recent_from, first, days, seen_before
-- output: site_activity
-- grain: host
SELECT
    host,
    first_seen,
    last_seen,
    list_extract(seen_before, $days + 1)
        - list_extract(seen_before, CAST(date_diff('day', $first, first_seen) + 1 AS INTEGER))
        AS observed_days,
    all_views,
    recent_views,
    clients
FROM (
    SELECT
        -- Of the window's days, how many are there before each, and in all.
        CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before,
        site AS host,
        min(day) AS first_seen,
        max(day) AS last_seen,
        sum(views) AS all_views,
        sum(CASE WHEN day >= $recent_from THEN views ELSE 0 END) AS recent_views,
        -- On one day a page has as many clients as views.
        max(views) AS clients
    FROM page_views
    GROUP BY site
)
ORDER BY host
