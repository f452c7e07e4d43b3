-- hub_pages: made from sql/hub_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: link_numbers, link_pages
-- parameters: keeps_external
SELECT
  pages.page,
  pages.url,
  pages.host,
  pages.is_opened,
  pages.is_external,
  SIZE(links.targets) AS temporal_pages
FROM {link_numbers} AS links
INNER JOIN {link_pages} AS pages
  ON pages.page = links.source
WHERE
  pages.is_opened OR (
    pages.is_external AND :keeps_external
  )
ORDER BY
  pages.page NULLS LAST
