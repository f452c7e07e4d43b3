-- distinct_segments: made from sql/distinct_segments.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: segments
-- parameters: none
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
      day,
      ts,
      client,
      url,
      referrer,
      site,
      ROW_NUMBER() OVER (PARTITION BY source, ts, client, url, referrer ORDER BY ts NULLS LAST) AS repeat_in_file
    FROM {segments} AS segments
  ) AS numbered
) AS once
ORDER BY
  ts NULLS LAST,
  client NULLS LAST,
  url NULLS LAST,
  referrer
