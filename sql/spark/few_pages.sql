-- few_pages: translated from sql/lists/few_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: flow_sections, page_sections, section_paths, tree_sums
-- parameters: enough
SELECT
  tree_sums.prefix AS prefix,
  pages.url AS url
FROM {tree_sums} AS tree_sums
INNER JOIN {section_paths} AS section_paths
  ON section_paths.prefix = tree_sums.prefix
INNER JOIN (
  SELECT
    section,
    url
  FROM {page_sections} AS page_sections
  UNION ALL
  SELECT
    section,
    url
  FROM {flow_sections} AS flow_sections
) AS pages
  ON pages.section = section_paths.section
WHERE
  tree_sums.clients < :enough
ORDER BY
  prefix NULLS LAST,
  url NULLS LAST
