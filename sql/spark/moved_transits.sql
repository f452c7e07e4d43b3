-- moved_transits: made from sql/moved_transits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: changed_pages, entering, kept_transits, leaving
-- parameters: none
WITH days AS (
  SELECT
    referrer,
    target,
    client,
    1 AS windows
  FROM {entering} AS entering
  UNION ALL
  SELECT
    referrer,
    target,
    client,
    2 AS windows
  FROM {leaving} AS leaving
  UNION ALL
  SELECT
    referrer,
    target,
    client,
    3 AS windows
  FROM {kept_transits} AS kept_transits
), numbered AS (
  SELECT
    sources.page AS referrer,
    CASE WHEN sources.page IS NULL THEN XXHASH64(days.referrer) END AS stranger,
    NOT days.referrer IS NULL AS is_referred,
    targets.page AS target,
    CASE WHEN targets.page IS NULL THEN XXHASH64(days.target) END AS lost,
    days.client,
    COALESCE(sources.site = targets.site, FALSE) AS is_within,
    COALESCE(targets.is_new, FALSE) AS is_new_target,
    COALESCE(sources.is_new, FALSE) AS is_new_referrer,
    days.windows
  FROM days
  LEFT JOIN {changed_pages} AS sources
    ON sources.url = days.referrer
  LEFT JOIN {changed_pages} AS targets
    ON targets.url = days.target
)
SELECT
  referrer,
  is_referred,
  target,
  client,
  ANY_VALUE(is_within) IGNORE NULLS AS is_within,
  BIT_OR(windows) & 1 AS is_now,
  CASE
    WHEN ANY_VALUE(is_new_target) IGNORE NULLS
    THEN 0
    ELSE SHIFTRIGHT(BIT_OR(windows), 1)
  END AS was_visit,
  CASE
    WHEN ANY_VALUE(is_new_referrer) IGNORE NULLS
    THEN 0
    ELSE SHIFTRIGHT(BIT_OR(windows), 1)
  END AS was_referral
FROM numbered
GROUP BY
  referrer,
  stranger,
  is_referred,
  target,
  lost,
  client
