-- mirror_pages: made from sql/mirror_pages.sql by `python -m temporal_assets.engines.translation`; edit that
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
