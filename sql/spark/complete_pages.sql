-- complete_pages: made from sql/complete_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_histories, page_labels
-- parameters: born_from, born_until, first, most
SELECT
  histories.site,
  histories.url,
  DATEDIFF(DAY, :first, histories.birth) AS born,
  histories.views,
  labels.is_temporal,
  labels.q,
  labels.m,
  labels.p
FROM {page_histories} AS histories
INNER JOIN {page_labels} AS labels
  ON labels.url = histories.url
WHERE
  NOT histories.is_born_before
  AND histories.birth >= :born_from
  AND histories.birth <= :born_until
  AND NOT labels.phi_n IS NULL
ORDER BY
  MD5(histories.url) NULLS LAST,
  histories.url NULLS LAST
LIMIT :most
