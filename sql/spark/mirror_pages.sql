-- mirror_pages: translated from sql/crawls/mirror_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: canonical_ends
-- parameters: none
SELECT DISTINCT
  site,
  url
FROM {canonical_ends} AS canonical_ends
WHERE
  NOT url IS NULL
ORDER BY
  site NULLS LAST,
  url NULLS LAST
