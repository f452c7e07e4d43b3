-- few_pages: translated from sql/lists/few_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_sections, section_paths, tree_sums
-- parameters: enough
SELECT
  tree_sums.prefix AS prefix,
  page_sections.url AS url
FROM {tree_sums} AS tree_sums
INNER JOIN {section_paths} AS section_paths
  ON section_paths.prefix = tree_sums.prefix
INNER JOIN {page_sections} AS page_sections
  ON page_sections.section = section_paths.section
WHERE
  tree_sums.clients < :enough
ORDER BY
  prefix NULLS LAST,
  url NULLS LAST
