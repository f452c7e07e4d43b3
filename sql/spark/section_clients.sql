-- section_clients: translated from sql/lists/section_clients.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_totals, page_traffic, tree_sums
-- parameters: none
WITH numbered AS (
  SELECT
    few.prefix AS prefix,
    totals.number AS page
  FROM (
    SELECT
      prefix,
      EXPLODE(few_pages) AS url
    FROM {tree_sums} AS tree_sums
  ) AS few
  INNER JOIN {page_totals} AS totals
    ON totals.url = few.url
), known AS (
  SELECT
    numbered.prefix AS prefix,
    traffic.clients,
    traffic.few_clients
  FROM numbered
  INNER JOIN {page_traffic} AS traffic
    ON traffic.url = numbered.page
)
SELECT
  alone.prefix AS prefix,
  GREATEST(alone.clients, COALESCE(together.clients, 0)) AS clients
FROM (
  SELECT
    prefix,
    MAX(clients) AS clients
  FROM known
  GROUP BY
    prefix
) AS alone
LEFT JOIN (
  SELECT
    prefix,
    COUNT(DISTINCT client) AS clients
  FROM (
    SELECT
      prefix,
      EXPLODE(few_clients) AS client
    FROM known
  ) AS members
  GROUP BY
    prefix
) AS together
  ON together.prefix = alone.prefix
ORDER BY
  prefix NULLS LAST
