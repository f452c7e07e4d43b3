-- front_pages: translated from sql/hubs/front_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: lonely_sites, page_totals
-- parameters: none
SELECT
  ROW_NUMBER() OVER (ORDER BY pages.url NULLS LAST) - 1 AS page,
  pages.url
FROM {page_totals} AS pages
INNER JOIN {lonely_sites} AS sites
  ON sites.site = pages.site
WHERE
  pages.url = 'https://' || sites.site || '/'
  OR pages.url = 'http://' || sites.site || '/'
ORDER BY
  page NULLS LAST
