-- migrate_page_labels_from_2: translated from sql/migrations/migrate_page_labels_from_2.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_labels
-- parameters: none
SELECT
  day,
  site,
  url,
  is_temporal,
  CASE WHEN phi_n IS NULL THEN 'none' ELSE 'curve' END AS label_basis,
  is_sure,
  is_temporal AS is_temporal_by_curve,
  is_news,
  CAST(NULL AS DOUBLE) AS first_share,
  phi_n,
  concentration,
  has_concentration,
  n,
  q,
  m,
  p,
  thresholds
FROM {page_labels} AS page_labels
ORDER BY
  site NULLS LAST,
  url NULLS LAST
