-- repeated_segments: translated from sql/days/repeated_segments.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: segments
-- parameters: none
WITH shared AS (
  SELECT
    ts,
    client
  FROM {segments} AS segments
  GROUP BY
    ts,
    client
  HAVING
    MIN(source) <> MAX(source)
)
SELECT DISTINCT
  ts,
  client
FROM (
  SELECT
    segments.ts,
    segments.client
  FROM {segments} AS segments
  INNER JOIN shared
    ON shared.ts = segments.ts AND shared.client = segments.client
  GROUP BY
    segments.ts,
    segments.client,
    segments.url,
    segments.referrer
  HAVING
    MIN(segments.source) <> MAX(segments.source)
) AS records
ORDER BY
  ts NULLS LAST,
  client NULLS LAST
