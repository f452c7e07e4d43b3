-- link_visits: translated from sql/link_visits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: candidates, transits
-- parameters: counts_opened, rotation_days
WITH seen AS (
  SELECT
    candidates.page AS page,
    transits.day AS day,
    transits.client AS client
  FROM {transits} AS transits
  INNER JOIN {candidates} AS candidates
    ON candidates.url = transits.target
  WHERE
    candidates.is_opened AND :counts_opened
  UNION
  SELECT
    candidates.page AS page,
    transits.day AS day,
    transits.client AS client
  FROM {transits} AS transits
  INNER JOIN {candidates} AS candidates
    ON candidates.url = transits.referrer
  WHERE
    NOT candidates.is_opened
)
SELECT
  page,
  MAX(clients) AS clients
FROM (
  SELECT
    page,
    period,
    COUNT(DISTINCT client) AS clients
  FROM (
    SELECT
      page,
      client,
      CAST(FLOOR(DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) / :rotation_days) AS BIGINT) AS period
    FROM seen
  )
  GROUP BY
    page,
    period
)
GROUP BY
  page
ORDER BY
  page NULLS LAST
