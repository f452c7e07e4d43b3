-- born_pages: made from sql/born_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_histories, page_labels
-- parameters: born_from, born_until, sites_until
SELECT
  lives.url,
  lives.total,
  lives.views,
  labels.q,
  labels.m,
  labels.p
FROM {page_histories} AS lives
INNER JOIN {page_labels} AS labels
  ON labels.url = lives.url
WHERE
  lives.birth >= :born_from
  AND lives.birth <= :born_until
  AND NOT lives.is_born_before
  AND MD5(lives.site) <= :sites_until
ORDER BY
  lives.url NULLS LAST
