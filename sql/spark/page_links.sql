-- page_links: translated from sql/hubs/page_links.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counts, seeds, transits, urls, wanted
-- parameters: none
WITH known AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + number AS id,
    url
  FROM {urls} AS urls
), steps AS (
  SELECT
    day,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + target AS target_id
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
  UNION ALL
  SELECT
    day,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + url AS target_id
  FROM {counts} AS counts
  WHERE
    referrer <> url AND transits > 0
), followed AS (
  SELECT DISTINCT
    day,
    source_id,
    target_id
  FROM steps
  WHERE
    target_id IN (
      SELECT
        id
      FROM known
      WHERE
        url IN (
          SELECT
            url
          FROM {wanted} AS wanted
        )
    )
    OR source_id IN (
      SELECT
        id
      FROM known
      WHERE
        url IN (
          SELECT
            url
          FROM {seeds} AS seeds
        )
    )
)
SELECT
  sources.url AS referrer,
  targets.url AS target,
  MIN(followed.day) AS first_day,
  MAX(followed.day) AS last_day
FROM followed
INNER JOIN known AS sources
  ON sources.id = followed.source_id
INNER JOIN known AS targets
  ON targets.id = followed.target_id
GROUP BY
  sources.url,
  targets.url
ORDER BY
  referrer NULLS LAST,
  target NULLS LAST
