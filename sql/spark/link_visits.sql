-- link_visits: translated from sql/hubs/link_visits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: candidates, key_days, transits, urls
-- parameters: none
WITH known AS (
  SELECT
    urls.day,
    urls.number,
    candidates.page,
    key_days.key
  FROM {urls} AS urls
  INNER JOIN {candidates} AS candidates
    ON candidates.url = urls.url
  INNER JOIN {key_days} AS key_days
    ON key_days.day = urls.day
), seen AS (
  SELECT DISTINCT
    known.page,
    known.key,
    transits.client
  FROM {transits} AS transits
  INNER JOIN known
    ON known.day = transits.day AND known.number = transits.target
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
