-- link_numbers: made from sql/link_numbers.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: link_pages, page_links
-- parameters: none
SELECT
  sources.page AS source,
  ARRAY_SORT(COLLECT_LIST(CAST(targets.page AS INT))) AS targets
FROM {page_links} AS page_links
INNER JOIN {link_pages} AS sources
  ON sources.url = page_links.referrer
INNER JOIN {link_pages} AS targets
  ON targets.url = page_links.target
GROUP BY
  sources.page
ORDER BY
  source NULLS LAST
