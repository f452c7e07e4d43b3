-- numbered_transits: translated from sql/traffic/numbered_transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_numbers, transits
-- parameters: first_page, last_page
SELECT
  CASE
    WHEN NOT transits.referrer IS NULL
    THEN COALESCE(
      sources.page,
      -1 - ABS(
        CAST(SHIFTRIGHT(XXHASH64(transits.referrer, 'four' || transits.referrer), 1) AS BIGINT)
      )
    )
  END AS referrer,
  targets.page AS target,
  transits.client
FROM {transits} AS transits
INNER JOIN {page_numbers} AS targets
  ON targets.url = transits.target
LEFT JOIN {page_numbers} AS sources
  ON sources.url = transits.referrer
WHERE
  targets.page BETWEEN :first_page AND :last_page
ORDER BY
  target NULLS LAST,
  client NULLS LAST,
  referrer
