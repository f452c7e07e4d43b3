-- page_totals: translated from sql/pages/page_totals.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_views
-- parameters: bits, day, first
WITH totals AS (
  SELECT
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
), sites AS (
  SELECT
    site,
    SUM(pages) OVER (ORDER BY site NULLS LAST) - pages AS first
  FROM (
    SELECT
      site,
      COUNT(*) AS pages
    FROM totals
    GROUP BY
      site
  ) AS sizes
)
SELECT
  :day AS day,
  totals.site,
  totals.url,
  totals.total,
  totals.birth,
  totals.seen,
  sites.first + ROW_NUMBER() OVER (PARTITION BY totals.site ORDER BY totals.url NULLS LAST) - 1 AS number
FROM totals
INNER JOIN sites
  ON sites.site = totals.site
ORDER BY
  number NULLS LAST
