-- page_totals: made from sql/page_totals.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_views
-- parameters: day
SELECT
  :day AS day,
  site,
  url,
  SUM(views) AS total,
  MIN(page_views.day) AS birth
FROM {page_views} AS page_views
GROUP BY
  site,
  url
ORDER BY
  site NULLS LAST,
  url NULLS LAST
