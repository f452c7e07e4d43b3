-- kept_transits: translated from sql/kept_transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: entering, kept, leaving, traced_pages
-- parameters: none
WITH moved AS (
  SELECT
    XXHASH64(XXHASH64(target), client) AS visit
  FROM {entering} AS entering
  UNION ALL
  SELECT
    XXHASH64(XXHASH64(target), client) AS visit
  FROM {leaving} AS leaving
), hashed AS (
  SELECT
    referrer,
    target,
    client,
    XXHASH64(referrer) AS source,
    XXHASH64(target) AS page
  FROM {kept} AS kept
)
SELECT
  referrer,
  target,
  client
FROM hashed
WHERE
  XXHASH64(page, client) IN (
    SELECT
      visit
    FROM moved
  )
  OR page IN (
    SELECT
      XXHASH64(url)
    FROM {traced_pages} AS traced_pages
    WHERE
      NOT is_new
  )
  OR source IN (
    SELECT
      XXHASH64(url)
    FROM {traced_pages} AS traced_pages
    WHERE
      is_new
  )
