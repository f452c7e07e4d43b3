-- link_visits: translated from sql/hubs/link_visits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: candidates, key_days, transits
-- parameters: counts_opened
WITH seen AS (
  SELECT
    candidates.page AS page,
    key_days.key AS key,
    transits.client AS client
  FROM {transits} AS transits
  INNER JOIN {candidates} AS candidates
    ON candidates.url = transits.target
  INNER JOIN {key_days} AS key_days
    ON key_days.day = transits.day
  WHERE
    candidates.is_opened AND :counts_opened
  UNION
  SELECT
    candidates.page AS page,
    key_days.key AS key,
    transits.client AS client
  FROM {transits} AS transits
  INNER JOIN {candidates} AS candidates
    ON candidates.url = transits.referrer
  INNER JOIN {key_days} AS key_days
    ON key_days.day = transits.day
  WHERE
    NOT candidates.is_opened
)
SELECT
  page,
  MAX(clients) AS clients
FROM (
  SELECT
    page,
    key,
    COUNT(*) AS clients
  FROM seen
  GROUP BY
    page,
    key
)
GROUP BY
  page
ORDER BY
  page NULLS LAST
