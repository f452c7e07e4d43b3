-- link_visits: translated from sql/hubs/link_visits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: candidates, counts, key_days, transits, urls
-- parameters: views_per_client
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
), counted AS (
  SELECT
    known.page,
    counts.day,
    counts.clients,
    COALESCE(counts.views, counts.transits) AS views
  FROM {counts} AS counts
  INNER JOIN known
    ON known.day = counts.day AND known.number = counts.url
)
SELECT
  page,
  MAX(clients) AS clients
FROM (
  SELECT
    page,
    COUNT(*) AS clients
  FROM seen
  GROUP BY
    page,
    key
  UNION ALL
  SELECT
    page,
    GREATEST(
      COALESCE(MAX(clients), 0),
      CAST(FLOOR(
        CAST(COALESCE(SUM(CASE WHEN clients IS NULL THEN views END), 0) AS DOUBLE) / :views_per_client
      ) AS BIGINT)
    ) AS clients
  FROM counted
  GROUP BY
    page,
    day
) AS known_clients
GROUP BY
  page
ORDER BY
  page NULLS LAST
