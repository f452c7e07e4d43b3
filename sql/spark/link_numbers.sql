-- link_numbers: translated from sql/hubs/link_numbers.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: link_pages, page_links
-- parameters: first
SELECT
  sources.page AS source,
  targets.page AS target,
  DATEDIFF(DAY, :first, page_links.first_day) AS first_day,
  DATEDIFF(DAY, :first, page_links.last_day) AS last_day
FROM {page_links} AS page_links
INNER JOIN {link_pages} AS sources
  ON sources.url = page_links.referrer
INNER JOIN {link_pages} AS targets
  ON targets.url = page_links.target
ORDER BY
  source NULLS LAST,
  target NULLS LAST
