-- page_transits: translated from sql/traffic/page_transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_numbers, transits, urls
-- parameters: none
WITH known AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), urls.day) * 4294967296 + urls.number AS id,
    page_numbers.page,
    CASE
      WHEN page_numbers.page IS NULL
      THEN CAST(SHIFTRIGHT(XXHASH64(urls.url, 'four' || urls.url), 1) AS BIGINT)
    END AS stranger
  FROM {urls} AS urls
  LEFT JOIN {page_numbers} AS page_numbers
    ON page_numbers.url = urls.url
), steps AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + target AS target_id,
    client
  FROM {transits} AS transits
)
SELECT DISTINCT
  sources.page AS referrer,
  sources.stranger,
  targets.page AS target,
  steps.client
FROM steps
INNER JOIN known AS targets
  ON targets.id = steps.target_id
LEFT JOIN known AS sources
  ON sources.id = steps.source_id
WHERE
  NOT targets.page IS NULL
ORDER BY
  target NULLS LAST
