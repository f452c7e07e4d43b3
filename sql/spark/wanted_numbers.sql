-- wanted_numbers: translated from sql/hubs/wanted_numbers.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: link_pages, wanted_pages
-- parameters: none
SELECT
  pages.page,
  wanted.worth,
  wanted.is_temporal,
  wanted.born,
  wanted.views,
  wanted.one_day,
  wanted.two_days,
  wanted.three_days,
  wanted.all_days
FROM {wanted_pages} AS wanted
INNER JOIN {link_pages} AS pages
  ON pages.url = wanted.url
ORDER BY
  page NULLS LAST
