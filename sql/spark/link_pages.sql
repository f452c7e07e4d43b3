-- link_pages: made from sql/link_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_links, page_totals
-- parameters: none
WITH ends AS (
  SELECT
    referrer AS url
  FROM {page_links} AS page_links
  UNION
  SELECT
    target AS url
  FROM {page_links} AS page_links
)
SELECT
  ROW_NUMBER() OVER (ORDER BY ends.url NULLS LAST) - 1 AS page,
  ends.url,
  SPLIT_PART(ends.url, '/', 3) AS host,
  NOT opened.url IS NULL AS is_opened,
  known.host IS NULL AS is_external
FROM ends
LEFT JOIN {page_totals} AS opened
  ON opened.url = ends.url
LEFT JOIN (
  SELECT DISTINCT
    SPLIT_PART(url, '/', 3) AS host
  FROM {page_totals} AS page_totals
) AS known
  ON known.host = SPLIT_PART(ends.url, '/', 3)
ORDER BY
  ends.url NULLS LAST
