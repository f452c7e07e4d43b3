-- site_sums: translated from sql/lists/site_sums.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: prefix_trees, site_activity, young_sums
-- parameters: day, quiet_days, quiet_share, recent_days
SELECT
  site,
  COUNT(*) AS hosts,
  SUM(COALESCE(pages, 0)) AS pages,
  SUM(COALESCE(temporal_pages, 0)) AS temporal_pages,
  SUM(COALESCE(views, 0)) AS views,
  SUM(COALESCE(temporal_views, 0)) AS temporal_views,
  SUM(COALESCE(view_squares, 0)) AS view_squares,
  SUM(COALESCE(flow_pages, 0)) AS flow_pages,
  CAST(SUM(COALESCE(flow_thousandths, 0)) AS DOUBLE) / 1000 AS flow_temporal_pages,
  SUM(COALESCE(old_pages, 0)) AS old_pages,
  SUM(COALESCE(old_temporal_pages, 0)) AS old_temporal_pages,
  ROUND(SUM(flow_weight * flow_score) / SUM(flow_weight), 12) AS flow_score,
  ROUND(SUM(flow_weight * flow_bound) / SUM(flow_weight), 12) AS flow_bound,
  CASE
    WHEN MAX(CASE WHEN flow_basis = 'flow' THEN 1 ELSE 0 END) = 1
    THEN 'flow'
    ELSE MAX(flow_basis)
  END AS flow_basis,
  SUM(COALESCE(young_pages, 0)) AS young_pages,
  SUM(COALESCE(young_temporal_pages, 0)) AS young_temporal_pages,
  SUM(COALESCE(young_temporal_views, 0)) AS young_temporal_views,
  MAX(GREATEST(site_activity.clients, COALESCE(roots.clients, 0))) AS clients,
  MIN(first_seen) AS first_seen,
  MAX(last_seen) AS last_seen,
  DATEDIFF(DAY, MIN(first_seen), :day) >= :quiet_days
  AND CAST(SUM(recent_views) AS DOUBLE) / :recent_days < :quiet_share * CAST(SUM(all_views) AS DOUBLE) / MAX(observed_days) AS is_quiet
FROM {site_activity} AS site_activity
LEFT JOIN (
  SELECT
    site AS host,
    SUM(pages) AS pages,
    SUM(temporal_pages) AS temporal_pages,
    SUM(views) AS views,
    SUM(temporal_views) AS temporal_views,
    SUM(view_squares) AS view_squares,
    SUM(flow_pages) AS flow_pages,
    SUM(old_pages) AS old_pages,
    SUM(old_temporal_pages) AS old_temporal_pages,
    SUM(CAST(FLOOR(1000 * flow_temporal_pages + 0.5) AS BIGINT)) AS flow_thousandths,
    SUM(1 + flow_pages) AS flow_weight,
    SUM((
      1 + flow_pages
    ) * flow_score) / SUM(1 + flow_pages) AS flow_score,
    SUM((
      1 + flow_pages
    ) * flow_bound) / SUM(1 + flow_pages) AS flow_bound,
    CASE
      WHEN MAX(CASE WHEN flow_basis = 'flow' THEN 1 ELSE 0 END) = 1
      THEN 'flow'
      ELSE MAX(flow_basis)
    END AS flow_basis,
    MAX(clients) AS clients
  FROM {prefix_trees} AS prefix_trees
  WHERE
    depth = 0
  GROUP BY
    site
) AS roots
  ON roots.host = site_activity.host
LEFT JOIN {young_sums} AS young_sums
  ON young_sums.host = site_activity.host
GROUP BY
  site
ORDER BY
  site NULLS LAST
