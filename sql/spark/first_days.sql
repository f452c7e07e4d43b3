-- first_days: translated from sql/labels/first_days.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_totals, page_views
-- parameters: day, days, known_from, known_until, least, step, young_from
WITH numbered AS (
  SELECT
    site,
    url,
    birth,
    total,
    birth <= :known_until AND total >= :least AS is_known,
    ROW_NUMBER() OVER (
      PARTITION BY birth <= :known_until AND total >= :least
      ORDER BY site NULLS LAST, url NULLS LAST
    ) AS number
  FROM {page_totals} AS page_totals
  WHERE
    birth >= :known_from
), chosen AS (
  SELECT
    *
  FROM numbered
  WHERE
    birth >= :young_from OR (
      is_known AND (
        number - 1
      ) % :step = 0
    )
)
SELECT
  site,
  url,
  birth,
  DATEDIFF(DAY, birth, :day) + 1 AS age,
  total,
  TRANSFORM(
    SLICE(SEQUENCE(0, :days), 1, :days - 0),
    n -> COALESCE(GET(views, ARRAY_POSITION(days, n) - 1), 0)
  ) AS views
FROM (
  SELECT
    chosen.url,
    ANY_VALUE(chosen.site) IGNORE NULLS AS site,
    ANY_VALUE(chosen.birth) IGNORE NULLS AS birth,
    ANY_VALUE(chosen.total) IGNORE NULLS AS total,
    COLLECT_LIST(DATEDIFF(DAY, chosen.birth, seen.day)) AS days,
    COLLECT_LIST(seen.views) AS views
  FROM {page_views} AS seen
  INNER JOIN chosen
    ON chosen.url = seen.url
  GROUP BY
    chosen.url
) AS found
ORDER BY
  site NULLS LAST,
  url NULLS LAST
