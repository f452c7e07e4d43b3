-- temporal_urls: made from sql/temporal_urls.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_labels
-- parameters: none
SELECT
  url
FROM {page_labels} AS page_labels
WHERE
  is_temporal
ORDER BY
  url NULLS LAST
