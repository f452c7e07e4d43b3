-- page_changes: translated from sql/pages/page_changes.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: entering, leaving
-- parameters: first
SELECT
  site,
  url,
  SUM(views) AS views,
  BIT_OR(seen) AS seen
FROM (
  SELECT
    site,
    url,
    views,
    SHIFTLEFT(CAST(1 AS BIGINT), CAST(DATEDIFF(DAY, :first, day) AS INT)) AS seen
  FROM {entering} AS entering
  UNION ALL
  SELECT
    site,
    url,
    -views AS views,
    CAST(0 AS BIGINT) AS seen
  FROM {leaving} AS leaving
) AS moved
GROUP BY
  site,
  url
ORDER BY
  site NULLS LAST,
  url NULLS LAST
