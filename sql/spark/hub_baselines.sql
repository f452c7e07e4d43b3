-- hub_baselines: translated from sql/evaluation/hub_baselines.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_totals, transits
-- parameters: born_after, last_day, most
WITH links AS (
  SELECT
    referrer,
    target,
    MIN(day) AS first_day
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
  GROUP BY
    referrer,
    target
), worths AS (
  SELECT
    'clicks' AS list,
    referrer AS url,
    COUNT(*) AS worth
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL AND day = :last_day
  GROUP BY
    referrer
  UNION ALL
  SELECT
    'recent' AS list,
    links.referrer AS url,
    CAST(SUM(
      CAST(ROUND(1000000 * POWER(0.5, DATEDIFF(DAY, links.first_day, :last_day))) AS BIGINT)
    ) AS BIGINT) AS worth
  FROM links
  INNER JOIN {page_totals} AS pages
    ON pages.url = links.target
  WHERE
    pages.birth > :born_after AND pages.birth <= :last_day
  GROUP BY
    links.referrer
), placed AS (
  SELECT
    list,
    url,
    ROW_NUMBER() OVER (PARTITION BY list ORDER BY worth DESC, url NULLS LAST) AS place
  FROM worths
)
SELECT
  list,
  url,
  place
FROM placed
WHERE
  place <= :most
ORDER BY
  list NULLS LAST,
  place NULLS LAST
