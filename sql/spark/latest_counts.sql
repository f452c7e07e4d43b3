-- latest_counts: translated from sql/days/latest_counts.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: count_files, count_segments
-- parameters: none
SELECT
  day,
  ts,
  url,
  referrer,
  site,
  source,
  views,
  visitors,
  transits
FROM (
  SELECT
    segments.*,
    files.serial,
    MAX(files.serial) OVER (
      PARTITION BY segments.ts, segments.url, segments.referrer, COALESCE(segments.views, segments.visitors) IS NULL
    ) AS last_serial
  FROM {count_segments} AS segments
  INNER JOIN {count_files} AS files
    ON files.source = segments.source
) AS counted
WHERE
  serial = last_serial
