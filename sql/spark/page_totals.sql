-- page_totals: translated from sql/pages/page_totals.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_views
-- parameters: bits, day, first
SELECT
  :day AS day,
  site,
  url,
  SUM(views) AS total,
  MIN(page_views.day) AS birth,
  BIT_OR(
    CASE
      WHEN DATEDIFF(DAY, :first, page_views.day) < :bits
      THEN SHIFTLEFT(CAST(1 AS BIGINT), CAST(DATEDIFF(DAY, :first, page_views.day) AS INT))
      ELSE 0
    END
  ) AS seen
FROM {page_views} AS page_views
GROUP BY
  site,
  url
ORDER BY
  site NULLS LAST,
  url NULLS LAST
