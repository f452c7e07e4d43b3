-- traced_pages: translated from sql/traced_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: earlier, leaving, page_totals
-- parameters: earlier_day, least_clients
SELECT
  url,
  TRUE AS is_new
FROM {page_totals} AS page_totals
WHERE
  birth > :earlier_day
UNION ALL
SELECT
  earlier.url,
  FALSE AS is_new
FROM {earlier} AS earlier
INNER JOIN (
  SELECT
    target,
    COUNT(*) AS clients
  FROM {leaving} AS leaving
  GROUP BY
    target
) AS gone
  ON gone.target = earlier.url
WHERE
  earlier.clients >= :least_clients
  AND earlier.clients - gone.clients < :least_clients
