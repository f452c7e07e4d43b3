-- counted_trees: translated from sql/lists/counted_trees.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: section_clients, tree_sums
-- parameters: day
SELECT
  :day AS day,
  site,
  sums.prefix AS prefix,
  parent,
  depth,
  is_program,
  first_seen,
  own_pages,
  own_flow_pages,
  own_old_pages,
  pages,
  temporal_pages,
  news_pages,
  curve_pages,
  aged_pages,
  flow_pages,
  flow_thousandths,
  old_pages,
  old_temporal_pages,
  views,
  temporal_views,
  recent_views,
  view_squares,
  GREATEST(sums.clients, COALESCE(section_clients.clients, 0)) AS clients
FROM {tree_sums} AS sums
LEFT JOIN {section_clients} AS section_clients
  ON section_clients.prefix = sums.prefix
ORDER BY
  site NULLS LAST,
  sums.prefix NULLS LAST
