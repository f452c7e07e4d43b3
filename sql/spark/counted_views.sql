-- counted_views: translated from sql/days/counted_views.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counts, page_views
-- parameters: none
SELECT
  day,
  site,
  url,
  SUM(views) AS views
FROM (
  SELECT
    day,
    site,
    url,
    views
  FROM {page_views} AS page_views
  UNION ALL
  SELECT
    day,
    site,
    url,
    views
  FROM {counts} AS counts
  WHERE
    views > 0
) AS both_kinds
GROUP BY
  day,
  site,
  url
ORDER BY
  site NULLS LAST,
  url NULLS LAST
