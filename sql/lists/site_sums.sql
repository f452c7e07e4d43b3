-- site_sums: what the hosts of each site add up to, and whether it has gone quiet
-- inputs: site_activity, prefix_trees, young_sums
-- parameters: day, recent_days, quiet_days, quiet_share
-- output: site_sums
-- grain: site
SELECT
    site,
    count(*) AS hosts,
    sum(coalesce(pages, 0)) AS pages,
    sum(coalesce(temporal_pages, 0)) AS temporal_pages,
    sum(coalesce(views, 0)) AS views,
    sum(coalesce(temporal_views, 0)) AS temporal_views,
    sum(coalesce(view_squares, 0)) AS view_squares,
    sum(coalesce(flow_pages, 0)) AS flow_pages,
    CAST(sum(coalesce(flow_thousandths, 0)) AS DOUBLE) / 1000 AS flow_temporal_pages,
    sum(coalesce(old_pages, 0)) AS old_pages,
    sum(coalesce(old_temporal_pages, 0)) AS old_temporal_pages,
    round(sum(flow_weight * flow_score) / sum(flow_weight), 12) AS flow_score,
    round(sum(flow_weight * flow_bound) / sum(flow_weight), 12) AS flow_bound,
    CASE
        WHEN max(CASE WHEN flow_basis = 'flow' THEN 1 ELSE 0 END) = 1 THEN 'flow'
        ELSE max(flow_basis)
    END AS flow_basis,
    sum(coalesce(young_pages, 0)) AS young_pages,
    sum(coalesce(young_temporal_pages, 0)) AS young_temporal_pages,
    sum(coalesce(young_temporal_views, 0)) AS young_temporal_views,
    max(greatest(site_activity.clients, coalesce(roots.clients, 0))) AS clients,
    min(first_seen) AS first_seen,
    max(last_seen) AS last_seen,
    date_diff('day', min(first_seen), $day) >= $quiet_days
        AND CAST(sum(recent_views) AS DOUBLE) / $recent_days
            -- The host that was seen first has the most days.
            < $quiet_share * CAST(sum(all_views) AS DOUBLE) / max(observed_days) AS is_quiet
FROM site_activity
LEFT JOIN (
    -- A host has several roots where it has several ports.
    SELECT
        site AS host,
        sum(pages) AS pages,
        sum(temporal_pages) AS temporal_pages,
        sum(views) AS views,
        sum(temporal_views) AS temporal_views,
        sum(view_squares) AS view_squares,
        sum(flow_pages) AS flow_pages,
        sum(old_pages) AS old_pages,
        sum(old_temporal_pages) AS old_temporal_pages,
        sum(CAST(floor(1000 * flow_temporal_pages + 0.5) AS BIGINT)) AS flow_thousandths,
        -- A host without flow still says what is expected of it.
        sum(1 + flow_pages) AS flow_weight,
        sum((1 + flow_pages) * flow_score) / sum(1 + flow_pages) AS flow_score,
        sum((1 + flow_pages) * flow_bound) / sum(1 + flow_pages) AS flow_bound,
        CASE
            WHEN max(CASE WHEN flow_basis = 'flow' THEN 1 ELSE 0 END) = 1 THEN 'flow'
            ELSE max(flow_basis)
        END AS flow_basis,
        max(clients) AS clients
    FROM prefix_trees
    WHERE depth = 0
    GROUP BY site
) AS roots ON roots.host = site_activity.host
LEFT JOIN young_sums ON young_sums.host = site_activity.host
GROUP BY site
ORDER BY site
