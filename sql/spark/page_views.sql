-- page_views: translated from sql/days/page_views.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: requests
-- parameters: none
SELECT
  day,
  site,
  url,
  COUNT(DISTINCT client) AS views
FROM {requests} AS requests
GROUP BY
  day,
  site,
  url
ORDER BY
  site NULLS LAST,
  url NULLS LAST
