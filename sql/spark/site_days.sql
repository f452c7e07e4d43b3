-- site_days: made from sql/site_days.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_histories
-- parameters: days
SELECT
  site,
  place,
  CAST(SUM(views) AS BIGINT) AS views
FROM (
  SELECT
    site,
    together.place,
    together.views
  FROM {page_histories} AS page_histories
  LATERAL VIEW
  INLINE(ARRAYS_ZIP(SLICE(SEQUENCE(0, :days), 1, :days - 0), views)) together AS place, views
)
GROUP BY
  site,
  place
ORDER BY
  site NULLS LAST,
  place NULLS LAST
