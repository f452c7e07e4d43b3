-- link_pages: translated from sql/hubs/link_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_links, page_totals
-- parameters: none
WITH ends AS (
  SELECT
    url,
    SPLIT_PART(url, '/', 3) AS host
  FROM (
    SELECT
      referrer AS url
    FROM {page_links} AS page_links
    UNION
    SELECT
      target AS url
    FROM {page_links} AS page_links
  )
), opened AS (
  SELECT
    url,
    number
  FROM {page_totals} AS page_totals
  WHERE
    url IN (
      SELECT
        url
      FROM ends
    )
), hosts AS (
  SELECT
    host,
    SUM(pages) OVER (ORDER BY host NULLS LAST) - pages AS first
  FROM (
    SELECT
      host,
      COUNT(*) AS pages
    FROM ends
    GROUP BY
      host
  )
)
SELECT
  hosts.first + ROW_NUMBER() OVER (PARTITION BY ends.host ORDER BY ends.url NULLS LAST) - 1 AS page,
  ends.url,
  ends.host,
  opened.number
FROM ends
INNER JOIN hosts
  ON hosts.host = ends.host
LEFT JOIN opened
  ON opened.url = ends.url
ORDER BY
  page NULLS LAST
