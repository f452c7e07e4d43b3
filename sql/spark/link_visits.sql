-- link_visits: made from sql/link_visits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: candidates, transits
-- parameters: counts_opened, recent_from, rotation_days
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
  MAX(clients) AS clients,
  SUM(visits) AS visits,
  SUM(recent_visits) AS recent_visits
FROM (
  SELECT
    page,
    period,
    COUNT(DISTINCT client) AS clients,
    COUNT(*) AS visits,
    SUM(is_recent) AS recent_visits
  FROM (
    SELECT
      page,
      client,
      CAST(FLOOR(DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) / :rotation_days) AS BIGINT) AS period,
      CASE WHEN day >= :recent_from THEN 1 ELSE 0 END AS is_recent
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
