-- page_clients: translated from sql/hubs/page_clients.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: candidates, page_traffic
-- parameters: none
SELECT
  candidates.page AS page,
  traffic.clients AS clients
FROM {candidates} AS candidates
INNER JOIN {page_traffic} AS traffic
  ON traffic.url = candidates.number
ORDER BY
  page NULLS LAST
