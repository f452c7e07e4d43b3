-- young_pages: made from sql/young_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_totals, page_views
-- parameters: born_from, days, observed
SELECT
  site,
  url,
  birth,
  LENGTH(REPLACE(SUBSTRING(:observed, DATEDIFF(DAY, :born_from, birth) + 1), '0', '')) AS age,
  total,
  TRANSFORM(
    SLICE(SEQUENCE(0, :days), 1, :days - 0),
    n -> COALESCE(GET(views, ARRAY_POSITION(days, n) - 1), 0)
  ) AS views
FROM (
  SELECT
    young.url,
    ANY_VALUE(young.site) IGNORE NULLS AS site,
    ANY_VALUE(young.birth) IGNORE NULLS AS birth,
    ANY_VALUE(young.total) IGNORE NULLS AS total,
    COLLECT_LIST(
      LENGTH(
        REPLACE(
          SUBSTRING(
            :observed,
            DATEDIFF(DAY, :born_from, young.birth) + 1,
            DATEDIFF(DAY, young.birth, seen.day)
          ),
          '0',
          ''
        )
      )
    ) AS days,
    COLLECT_LIST(seen.views) AS views
  FROM {page_views} AS seen
  INNER JOIN {page_totals} AS young
    ON young.url = seen.url
  WHERE
    young.birth >= :born_from
  GROUP BY
    young.url
) AS found
ORDER BY
  site NULLS LAST,
  url NULLS LAST
