-- distinct_segments: translated from sql/days/distinct_segments.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: repeated_segments, segments
-- parameters: none
SELECT
  segments.day,
  segments.ts,
  segments.client,
  segments.url,
  segments.referrer,
  segments.site
FROM {segments} AS segments
LEFT JOIN {repeated_segments} AS repeated
  ON repeated.ts = segments.ts AND repeated.client = segments.client
WHERE
  repeated.client IS NULL
UNION ALL
SELECT
  day,
  ts,
  client,
  url,
  referrer,
  site
FROM (
  SELECT DISTINCT
    day,
    ts,
    client,
    url,
    referrer,
    site,
    repeat_in_file
  FROM (
    SELECT
      segments.day,
      segments.ts,
      segments.client,
      segments.url,
      segments.referrer,
      segments.site,
      ROW_NUMBER() OVER (
        PARTITION BY segments.source, segments.ts, segments.client, segments.url, segments.referrer
        ORDER BY segments.ts NULLS LAST
      ) AS repeat_in_file
    FROM {segments} AS segments
    INNER JOIN {repeated_segments} AS repeated
      ON repeated.ts = segments.ts AND repeated.client = segments.client
  ) AS numbered
) AS once
