-- known_pages: made from sql/known_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_histories, page_labels
-- parameters: sites_until
SELECT
  labels.url,
  lives.total,
  labels.is_temporal,
  labels.is_news,
  NOT labels.phi_n IS NULL AS has_temporal,
  labels.is_news
  OR DATEDIFF(DAY, lives.birth, labels.day) + 1 > labels.m * labels.p AS has_news
FROM {page_labels} AS labels
INNER JOIN {page_histories} AS lives
  ON lives.url = labels.url
WHERE
  MD5(labels.site) <= :sites_until
ORDER BY
  labels.url NULLS LAST
