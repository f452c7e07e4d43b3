-- known_labels: made from sql/known_labels.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_labels
-- parameters: none
SELECT
  site,
  url,
  is_temporal
FROM {page_labels} AS page_labels
WHERE
  NOT phi_n IS NULL
ORDER BY
  site NULLS LAST,
  url NULLS LAST
