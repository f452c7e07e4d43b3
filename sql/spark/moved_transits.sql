-- moved_transits: made from sql/moved_transits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: changed_pages, entering, kept_transits, leaving
-- parameters: none
WITH triples AS (
  SELECT
    referrer,
    target,
    client,
    MAX(entered) AS entered,
    MAX(gone) AS gone,
    MAX(stayed) AS stayed
  FROM (
    SELECT
      referrer,
      target,
      client,
      1 AS entered,
      0 AS gone,
      0 AS stayed
    FROM {entering} AS entering
    UNION ALL
    SELECT
      referrer,
      target,
      client,
      0 AS entered,
      1 AS gone,
      0 AS stayed
    FROM {leaving} AS leaving
    UNION ALL
    SELECT
      referrer,
      target,
      client,
      0 AS entered,
      0 AS gone,
      1 AS stayed
    FROM {kept_transits} AS kept_transits
  ) AS days
  GROUP BY
    referrer,
    target,
    client
)
SELECT
  sources.page AS referrer,
  NOT triples.referrer IS NULL AS is_referred,
  targets.page AS target,
  client,
  COALESCE(sources.site = targets.site, FALSE) AS is_within,
  GREATEST(entered, stayed) AS is_now,
  CASE WHEN targets.is_new THEN 0 ELSE GREATEST(gone, stayed) END AS was_visit,
  CASE WHEN sources.is_new THEN 0 ELSE GREATEST(gone, stayed) END AS was_referral
FROM triples
LEFT JOIN {changed_pages} AS sources
  ON sources.url = triples.referrer
LEFT JOIN {changed_pages} AS targets
  ON targets.url = triples.target
