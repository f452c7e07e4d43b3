-- kept_transits: made from sql/kept_transits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: entering, kept, leaving, traced_pages
-- parameters: none
WITH moved AS (
  SELECT
    XXHASH64(target, client) AS visit
  FROM {entering} AS entering
  UNION ALL
  SELECT
    XXHASH64(target, client) AS visit
  FROM {leaving} AS leaving
)
SELECT
  referrer,
  target,
  client
FROM {kept} AS kept
WHERE
  XXHASH64(target, client) IN (
    SELECT
      visit
    FROM moved
  )
  OR XXHASH64(target) IN (
    SELECT
      XXHASH64(url)
    FROM {traced_pages} AS traced_pages
    WHERE
      NOT is_new
  )
  OR XXHASH64(referrer) IN (
    SELECT
      XXHASH64(url)
    FROM {traced_pages} AS traced_pages
    WHERE
      is_new
  )
