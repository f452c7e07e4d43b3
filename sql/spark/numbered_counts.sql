-- numbered_counts: translated from sql/days/numbered_counts.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counts, urls
-- parameters: none
SELECT
  counts.day,
  targets.number AS url,
  sources.number AS referrer,
  counts.views,
  counts.clients,
  counts.transits
FROM {counts} AS counts
INNER JOIN {urls} AS targets
  ON targets.url = counts.url
LEFT JOIN {urls} AS sources
  ON sources.url = counts.referrer
ORDER BY
  targets.number NULLS LAST,
  sources.number
