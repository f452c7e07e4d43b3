-- page_clients: translated from sql/hubs/page_clients.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: candidates, page_totals, page_traffic
-- parameters: none
WITH numbered AS (
  SELECT
    candidates.page,
    totals.number
  FROM {candidates} AS candidates
  INNER JOIN {page_totals} AS totals
    ON totals.url = candidates.url
)
SELECT
  numbered.page AS page,
  traffic.clients AS clients
FROM numbered
INNER JOIN {page_traffic} AS traffic
  ON traffic.url = numbered.number
ORDER BY
  page NULLS LAST
