-- page_totals_onward: translated from sql/page_totals_onward.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: earlier, entering, leaving
-- parameters: day, first, moved
WITH changes AS (
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
), pages AS (
  SELECT
    COALESCE(earlier.site, changes.site) AS site,
    COALESCE(earlier.url, changes.url) AS url,
    COALESCE(earlier.total, 0) + COALESCE(changes.views, 0) AS total,
    COALESCE(SHIFTRIGHT(earlier.seen, :moved), 0) | COALESCE(changes.seen, 0) AS seen
  FROM {earlier} AS earlier
  FULL OUTER JOIN changes
    ON changes.url = earlier.url
)
SELECT
  :day AS day,
  site,
  url,
  total,
  :first + CAST(BIT_COUNT((
    seen & -seen
  ) - 1) AS INT) AS birth,
  seen
FROM pages
WHERE
  total > 0
ORDER BY
  site NULLS LAST,
  url NULLS LAST
