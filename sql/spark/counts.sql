-- counts: translated from sql/days/counts.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: count_segments
-- parameters: none
SELECT
  day,
  site,
  url,
  referrer,
  SUM(COALESCE(visitors, views)) AS views,
  MAX(visitors) AS clients,
  SUM(transits) AS transits
FROM {count_segments} AS count_segments
GROUP BY
  day,
  site,
  url,
  referrer
ORDER BY
  site NULLS LAST,
  url NULLS LAST,
  referrer
