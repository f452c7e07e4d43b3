-- page_histories_onward: translated from sql/page_histories_onward.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: earlier, entering, page_totals, page_views
-- parameters: day, days, first, least, moved, observed_from
WITH reliable AS (
  SELECT
    site,
    url,
    birth,
    total
  FROM {page_totals} AS page_totals
  WHERE
    total >= :least
), found AS (
  SELECT
    url,
    COLLECT_LIST(DATEDIFF(DAY, :first, day)) AS days,
    COLLECT_LIST(views) AS views
  FROM (
    SELECT
      url,
      day,
      views
    FROM {page_views} AS page_views
    WHERE
      url IN (
        SELECT
          url
        FROM reliable
        WHERE
          NOT EXISTS(
            SELECT
              1
            FROM (
              SELECT
                url AS absent_key
              FROM {earlier} AS earlier
            ) AS absent
            WHERE
              absent.absent_key = url
          )
      )
    UNION ALL
    SELECT
      url,
      day,
      views
    FROM {entering} AS entering
    WHERE
      url IN (
        SELECT
          url
        FROM reliable
        WHERE
          url IN (
            SELECT
              url
            FROM {earlier} AS earlier
          )
      )
  ) AS daily
  GROUP BY
    url
)
SELECT
  :day AS day,
  reliable.site,
  reliable.url,
  reliable.birth,
  reliable.total,
  CASE
    WHEN earlier.url IS NULL
    THEN TRANSFORM(
      SLICE(SEQUENCE(0, :days), 1, :days - 0),
      n -> COALESCE(GET(found.views, ARRAY_POSITION(found.days, n) - 1), 0)
    )
    ELSE CONCAT(
      SLICE(earlier.views, :moved + 1, GREATEST(:days - (
        :moved + 1
      ) + 1, 0)),
      TRANSFORM(
        SLICE(SEQUENCE(:days - :moved, :days), 1, :days - (
          :days - :moved
        )),
        n -> COALESCE(GET(found.views, ARRAY_POSITION(found.days, n) - 1), 0)
      )
    )
  END AS views,
  reliable.birth <= :observed_from AS is_born_before
FROM reliable
LEFT JOIN {earlier} AS earlier
  ON earlier.url = reliable.url
LEFT JOIN found
  ON found.url = reliable.url
ORDER BY
  reliable.site NULLS LAST,
  reliable.url NULLS LAST
