-- mirror_numbers: translated from sql/crawls/mirror_numbers.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: canonical_ends, mirror_pages
-- parameters: none
WITH pages AS (
  SELECT
    url,
    ROW_NUMBER() OVER (ORDER BY site NULLS LAST, url NULLS LAST) - 1 AS page
  FROM {mirror_pages} AS mirror_pages
)
SELECT
  ends.written,
  pages.page
FROM {canonical_ends} AS ends
INNER JOIN pages
  ON pages.url = ends.url
