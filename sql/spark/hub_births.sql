-- hub_births: translated from sql/hubs/hub_births.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: link_numbers, link_pages, wanted_numbers
-- parameters: one_in
SELECT
  links.source AS page,
  links.first_day AS day,
  CAST(SUM(wanted.worth) AS BIGINT) AS new
FROM {link_numbers} AS links
INNER JOIN {wanted_numbers} AS wanted
  ON wanted.page = links.target
INNER JOIN {link_pages} AS pages
  ON pages.page = links.source
WHERE
  NOT pages.number IS NULL AND wanted.born >= 0 AND links.source % :one_in = 0
GROUP BY
  links.source,
  links.first_day
ORDER BY
  links.source NULLS LAST,
  links.first_day NULLS LAST
