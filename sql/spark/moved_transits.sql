-- moved_transits: translated from sql/moved_transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: changed_pages, entering, kept_transits, leaving
-- parameters: none
WITH days AS (
  SELECT
    referrer,
    target,
    client,
    1 AS windows
  FROM {entering} AS entering
  UNION ALL
  SELECT
    referrer,
    target,
    client,
    2 AS windows
  FROM {leaving} AS leaving
  UNION ALL
  SELECT
    referrer,
    target,
    client,
    3 AS windows
  FROM {kept_transits} AS kept_transits
)
SELECT
  CASE
    WHEN NOT days.referrer IS NULL
    THEN COALESCE(
      sources.page,
      -1 - ABS(CAST(SHIFTRIGHT(XXHASH64(days.referrer, 'four' || days.referrer), 1) AS BIGINT))
    )
  END AS referrer,
  COALESCE(
    targets.page,
    -1 - ABS(CAST(SHIFTRIGHT(XXHASH64(days.target, 'four' || days.target), 1) AS BIGINT))
  ) AS target,
  days.client,
  days.windows
FROM days
LEFT JOIN {changed_pages} AS sources
  ON sources.url = days.referrer
LEFT JOIN {changed_pages} AS targets
  ON targets.url = days.target
ORDER BY
  target NULLS LAST,
  client NULLS LAST,
  referrer
