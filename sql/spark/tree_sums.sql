-- tree_sums: translated from sql/lists/tree_sums.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: section_paths, section_sums
-- parameters: none
SELECT
  site,
  prefix,
  parent,
  depth,
  is_program,
  MIN(first_seen) AS first_seen,
  SUM(CASE WHEN section_paths.section = prefix THEN pages ELSE 0 END) AS own_pages,
  SUM(CASE WHEN section_paths.section = prefix THEN flow_pages ELSE 0 END) AS own_flow_pages,
  SUM(CASE WHEN section_paths.section = prefix THEN old_pages ELSE 0 END) AS own_old_pages,
  SUM(pages) AS pages,
  SUM(temporal_pages) AS temporal_pages,
  SUM(news_pages) AS news_pages,
  SUM(curve_pages) AS curve_pages,
  SUM(aged_pages) AS aged_pages,
  SUM(flow_pages) AS flow_pages,
  SUM(flow_thousandths) AS flow_thousandths,
  SUM(old_pages) AS old_pages,
  SUM(old_temporal_pages) AS old_temporal_pages,
  SUM(views) AS views,
  SUM(temporal_views) AS temporal_views,
  SUM(recent_views) AS recent_views,
  SUM(view_squares) AS view_squares,
  MAX(clients) AS clients
FROM {section_paths} AS section_paths
INNER JOIN {section_sums} AS section_sums
  ON section_sums.section = section_paths.section
GROUP BY
  site,
  prefix,
  parent,
  depth,
  is_program
ORDER BY
  site NULLS LAST,
  prefix NULLS LAST
