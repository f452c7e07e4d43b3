-- page_transits: translated from sql/traffic/page_transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_numbers, transits
-- parameters: none
SELECT DISTINCT
  sources.page AS referrer,
  CASE
    WHEN sources.page IS NULL AND NOT transits.referrer IS NULL
    THEN CAST(SHIFTRIGHT(XXHASH64(transits.referrer, 'four' || transits.referrer), 1) AS BIGINT)
  END AS stranger,
  targets.page AS target,
  transits.client
FROM {transits} AS transits
INNER JOIN {page_numbers} AS targets
  ON targets.url = transits.target
LEFT JOIN {page_numbers} AS sources
  ON sources.url = transits.referrer
ORDER BY
  target NULLS LAST
