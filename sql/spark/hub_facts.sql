-- hub_facts: translated from sql/hubs/hub_facts.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: day_weights, link_numbers, link_pages, wanted_numbers
-- parameters: none
WITH facts AS (
  SELECT
    links.source AS page,
    CAST(SUM(CASE WHEN wanted.born >= 0 THEN wanted.worth * weights.weight ELSE 0 END) AS BIGINT) AS evidence,
    CAST(SUM(CASE WHEN wanted.is_temporal THEN 1 ELSE 0 END) AS BIGINT) AS temporal_pages,
    COUNT(*) AS wanted_pages,
    CAST(SUM(wanted.views) AS BIGINT) AS views,
    CAST(SUM(wanted.one_day) AS BIGINT) AS one_day,
    CAST(SUM(wanted.three_days) AS BIGINT) AS three_days,
    CAST(SUM(wanted.all_days) AS BIGINT) AS all_days,
    CAST(SUM(
      wanted.all_days - CASE links.first_day - wanted.born
        WHEN 0
        THEN 0
        WHEN 1
        THEN wanted.one_day
        WHEN 2
        THEN wanted.two_days
        ELSE wanted.three_days
      END
    ) AS BIGINT) AS shown,
    CAST(SUM(
      CASE links.last_day - wanted.born
        WHEN 0
        THEN wanted.all_days - wanted.one_day
        WHEN 1
        THEN wanted.all_days - wanted.two_days
        WHEN 2
        THEN wanted.all_days - wanted.three_days
        ELSE 0
      END
    ) AS BIGINT) AS missed
  FROM {link_numbers} AS links
  INNER JOIN {wanted_numbers} AS wanted
    ON wanted.page = links.target
  INNER JOIN {day_weights} AS weights
    ON weights.day = links.first_day
  GROUP BY
    links.source
)
SELECT
  facts.*,
  pages.url,
  pages.host,
  pages.number
FROM facts
INNER JOIN {link_pages} AS pages
  ON pages.page = facts.page
WHERE
  NOT pages.number IS NULL
ORDER BY
  facts.page NULLS LAST
