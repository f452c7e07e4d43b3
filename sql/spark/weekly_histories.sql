-- weekly_histories: translated from sql/labels/weekly_histories.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_histories
-- parameters: days
WITH site_days AS (
  SELECT
    site,
    place,
    SUM(views) AS views
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
), sites AS (
  SELECT
    site,
    ARRAY_SORT(COLLECT_LIST(CAST(place * 1099511627776 + views AS BIGINT))) AS site_days
  FROM site_days
  GROUP BY
    site
)
SELECT
  lives.day,
  lives.site,
  lives.url,
  lives.views,
  sites.site_days
FROM {page_histories} AS lives
INNER JOIN sites
  ON sites.site = lives.site
ORDER BY
  lives.site NULLS LAST,
  lives.url NULLS LAST
