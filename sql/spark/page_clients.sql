-- page_clients: made from sql/page_clients.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: candidates, page_traffic
-- parameters: none
SELECT
  candidates.page AS page,
  traffic.clients AS clients
FROM {candidates} AS candidates
INNER JOIN {page_traffic} AS traffic
  ON traffic.url = candidates.url
WHERE
  candidates.is_opened
ORDER BY
  page NULLS LAST
