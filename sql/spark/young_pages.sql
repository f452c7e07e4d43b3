-- young_pages: made from sql/young_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_totals, page_views
-- parameters: born_from, days, observed, section
SELECT
  totals.site,
  totals.url,
  REGEXP_EXTRACT(totals.url, :section) AS section,
  totals.birth,
  LENGTH(
    REPLACE(SUBSTRING(:observed, DATEDIFF(DAY, :born_from, totals.birth) + 1), '0', '')
  ) AS age,
  totals.total,
  TRANSFORM(
    SLICE(SEQUENCE(0, :days), 1, :days - 0),
    n -> COALESCE(GET(found.views, ARRAY_POSITION(found.days, n) - 1), 0)
  ) AS views
FROM {page_totals} AS totals
INNER JOIN (
  SELECT
    young.url,
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
  ON found.url = totals.url
WHERE
  totals.birth >= :born_from
ORDER BY
  totals.site NULLS LAST,
  totals.url NULLS LAST
