-- page_totals_onward: made from sql/page_totals_onward.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: earlier, early, entering, late, leaving
-- parameters: day, first
WITH changes AS (
  SELECT
    site,
    url,
    SUM(views) AS views,
    MIN(entered) AS entered
  FROM (
    SELECT
      site,
      url,
      views,
      entering.day AS entered
    FROM {entering} AS entering
    UNION ALL
    SELECT
      site,
      url,
      -views AS views,
      CAST(NULL AS DATE) AS entered
    FROM {leaving} AS leaving
  ) AS moved
  GROUP BY
    site,
    url
), orphans AS (
  SELECT
    earlier.url
  FROM {earlier} AS earlier
  LEFT JOIN changes
    ON changes.url = earlier.url
  WHERE
    earlier.birth < :first AND earlier.total + COALESCE(changes.views, 0) > 0
), found_early AS (
  SELECT
    url,
    MIN(early.day) AS birth
  FROM {early} AS early
  WHERE
    url IN (
      SELECT
        url
      FROM orphans
    )
  GROUP BY
    url
), births AS (
  SELECT
    url,
    birth
  FROM found_early
  UNION ALL
  SELECT
    url,
    MIN(late.day) AS birth
  FROM {late} AS late
  WHERE
    url IN (
      SELECT
        url
      FROM orphans
      WHERE
        NOT EXISTS(
          SELECT
            1
          FROM (
            SELECT
              url AS absent_key
            FROM found_early
          ) AS absent
          WHERE
            absent.absent_key = url
        )
    )
  GROUP BY
    url
)
SELECT
  :day AS day,
  site,
  url,
  total,
  birth
FROM (
  SELECT
    earlier.site,
    earlier.url,
    earlier.total + COALESCE(changes.views, 0) AS total,
    CASE WHEN earlier.birth >= :first THEN earlier.birth ELSE births.birth END AS birth
  FROM {earlier} AS earlier
  LEFT JOIN changes
    ON changes.url = earlier.url
  LEFT JOIN births
    ON births.url = earlier.url
  WHERE
    earlier.total + COALESCE(changes.views, 0) > 0
  UNION ALL
  SELECT
    site,
    url,
    views AS total,
    entered AS birth
  FROM changes
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
) AS pages
ORDER BY
  site NULLS LAST,
  url NULLS LAST
