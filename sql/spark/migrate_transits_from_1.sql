-- migrate_transits_from_1: translated from sql/migrations/migrate_transits_from_1.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_views, transits
-- parameters: none
SELECT
  views.day,
  views.url,
  transits.referrer,
  transits.client,
  views.site
FROM {transits} AS transits
INNER JOIN {page_views} AS views
  ON views.url = transits.target
UNION ALL
SELECT
  day,
  url,
  url AS referrer,
  CAST(0 AS BIGINT) AS client,
  site
FROM {page_views} AS page_views
