-- mirror_pairs: translated from sql/crawls/mirror_pairs.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: mirror_edges, mirror_numbers
-- parameters: none
SELECT
  sources.page AS source,
  targets.page AS target,
  edges.nofollow
FROM {mirror_edges} AS edges
INNER JOIN {mirror_numbers} AS sources
  ON sources.written = edges.source
INNER JOIN {mirror_numbers} AS targets
  ON targets.written = edges.target
