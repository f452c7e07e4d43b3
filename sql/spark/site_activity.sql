-- site_activity: made from sql/site_activity.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_views
-- parameters: recent_from
SELECT
  site AS host,
  MIN(day) AS first_seen,
  MAX(day) AS last_seen,
  SUM(views) AS all_views,
  SUM(CASE WHEN day >= :recent_from THEN views ELSE 0 END) AS recent_views,
  MAX(views) AS clients
FROM {page_views} AS page_views
GROUP BY
  site
ORDER BY
  site NULLS LAST
