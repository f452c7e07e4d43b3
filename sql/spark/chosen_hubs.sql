-- chosen_hubs: made from sql/chosen_hubs.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: hub_order, taken_hubs
-- parameters: most_hubs
SELECT
  hubs.page,
  hubs.place,
  hubs.url,
  hubs.is_external,
  hubs.clients,
  hubs.temporal_pages
FROM {hub_order} AS hubs
LEFT JOIN {taken_hubs} AS taken
  ON taken.page = hubs.page
WHERE
  hubs.place <= :most_hubs OR NOT taken.page IS NULL
ORDER BY
  hubs.page NULLS LAST
