-- site_activity: when each host was visited, and how much of late
-- inputs: page_views, counted_sites
-- parameters: recent_from, first, days, seen_before, views_per_client
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
    -- On one day a page has as many clients as views; where views are counted without clients, so
    -- many of them vouch for one.
    CASE
        WHEN counted_sites.site IS NULL THEN clients
        ELSE CAST(floor(CAST(clients AS DOUBLE) / $views_per_client) AS BIGINT)
    END AS clients
FROM (
    SELECT
        -- Of the window's days, how many are there before each, and in all.
        CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before,
        site AS host,
        min(day) AS first_seen,
        max(day) AS last_seen,
        sum(views) AS all_views,
        sum(CASE WHEN day >= $recent_from THEN views ELSE 0 END) AS recent_views,
        max(views) AS clients
    FROM page_views
    GROUP BY site
) AS hosts
LEFT JOIN counted_sites ON counted_sites.site = hosts.host
ORDER BY host
