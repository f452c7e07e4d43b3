-- site_activity: translated from sql/lists/site_activity.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counted_sites, page_views
-- parameters: days, first, recent_from, seen_before, views_per_client
SELECT
  host,
  first_seen,
  last_seen,
  GET(seen_before, (
    :days + 1
  ) - 1) - GET(seen_before, (
    CAST(DATEDIFF(DAY, :first, first_seen) + 1 AS INT)
  ) - 1) AS observed_days,
  all_views,
  recent_views,
  CASE
    WHEN counted_sites.site IS NULL
    THEN clients
    ELSE CAST(FLOOR(CAST(clients AS DOUBLE) / :views_per_client) AS BIGINT)
  END AS clients
FROM (
  SELECT
    CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before,
    site AS host,
    MIN(day) AS first_seen,
    MAX(day) AS last_seen,
    SUM(views) AS all_views,
    SUM(CASE WHEN day >= :recent_from THEN views ELSE 0 END) AS recent_views,
    MAX(views) AS clients
  FROM {page_views} AS page_views
  GROUP BY
    site
) AS hosts
LEFT JOIN {counted_sites} AS counted_sites
  ON counted_sites.site = hosts.host
ORDER BY
  host NULLS LAST
