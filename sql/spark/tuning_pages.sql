-- tuning_pages: made from sql/tuning_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_histories, page_labels
-- parameters: day
SELECT
  page_labels.site AS site,
  page_labels.url AS url,
  is_temporal,
  is_news,
  NOT phi_n IS NULL AND has_concentration AS is_known,
  is_news OR DATEDIFF(DAY, birth, :day) + 1 > m * p AS is_aged,
  birth,
  total
FROM {page_labels} AS page_labels
INNER JOIN {page_histories} AS page_histories
  ON page_histories.url = page_labels.url
ORDER BY
  page_labels.site NULLS LAST,
  page_labels.url NULLS LAST
