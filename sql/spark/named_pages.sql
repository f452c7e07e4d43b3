-- named_pages: translated from sql/evaluation/named_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: link_pages, named
-- parameters: none
SELECT
  named.list,
  named.place,
  pages.page
FROM {named} AS named
INNER JOIN {link_pages} AS pages
  ON pages.url = named.url
ORDER BY
  named.list NULLS LAST,
  named.place NULLS LAST
