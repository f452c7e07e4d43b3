-- named_pages: made from sql/named_pages.sql by `python -m temporal_assets.engines.translation`; edit that
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
