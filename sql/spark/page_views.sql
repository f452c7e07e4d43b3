-- page_views: made from sql/page_views.sql by `python -m temporal_assets.engines.translation`; edit that
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
