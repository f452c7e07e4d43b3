-- page_links: translated from sql/hubs/page_links.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: seeds, transits, wanted
-- parameters: none
SELECT
  referrer,
  target,
  MIN(day) AS first_day,
  MAX(day) AS last_day
FROM {transits} AS transits
WHERE
  NOT referrer IS NULL
  AND (
    target IN (
      SELECT
        url
      FROM {wanted} AS wanted
    )
    OR referrer IN (
      SELECT
        url
      FROM {seeds} AS seeds
    )
  )
GROUP BY
  referrer,
  target
ORDER BY
  referrer NULLS LAST,
  target NULLS LAST
