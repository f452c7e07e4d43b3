-- page_histories: translated from sql/pages/page_histories.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_totals, page_views
-- parameters: day, days, first, least, observed_from
SELECT
  :day AS day,
  pages.site,
  pages.url,
  pages.birth,
  pages.total,
  TRANSFORM(
    SLICE(SEQUENCE(0, :days), 1, :days - 0),
    n -> COALESCE(GET(found.views, ARRAY_POSITION(found.days, n) - 1), 0)
  ) AS views,
  pages.birth <= :observed_from AS is_born_before
FROM {page_totals} AS pages
INNER JOIN (
  SELECT
    url,
    COLLECT_LIST(DATEDIFF(DAY, :first, day)) AS days,
    COLLECT_LIST(views) AS views
  FROM {page_views} AS page_views
  WHERE
    url IN (
      SELECT
        url
      FROM {page_totals} AS page_totals
      WHERE
        total >= :least
    )
  GROUP BY
    url
) AS found
  ON found.url = pages.url
ORDER BY
  pages.site NULLS LAST,
  pages.url NULLS LAST
