-- migrate_page_labels_from_1: made from sql/migrate_page_labels_from_1.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_labels
-- parameters: none
SELECT
  day,
  site,
  url,
  is_temporal,
  is_sure,
  is_news,
  phi_n,
  concentration,
  has_concentration,
  n,
  q,
  m,
  p,
  'settings' AS thresholds
FROM {page_labels} AS page_labels
ORDER BY
  site NULLS LAST,
  url NULLS LAST
