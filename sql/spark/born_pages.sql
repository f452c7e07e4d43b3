-- born_pages: made from sql/born_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_histories
-- parameters: born_from, born_until, sites_until
SELECT
  url,
  total,
  views
FROM {page_histories} AS page_histories
WHERE
  birth >= :born_from
  AND birth <= :born_until
  AND NOT is_born_before
  AND MD5(site) <= :sites_until
ORDER BY
  url NULLS LAST
