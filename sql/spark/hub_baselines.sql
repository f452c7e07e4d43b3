-- hub_baselines: translated from sql/evaluation/hub_baselines.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counts, page_totals, transits, urls
-- parameters: born_after, last_day, most
WITH known AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + number AS id,
    url
  FROM {urls} AS urls
), followed AS (
  SELECT
    day,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + target AS target_id,
    COUNT(*) AS clicks
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
  GROUP BY
    day,
    referrer,
    target
  UNION ALL
  SELECT
    day,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + url AS target_id,
    transits AS clicks
  FROM {counts} AS counts
  WHERE
    referrer <> url AND transits > 0
), all_links AS (
  SELECT
    sources.url AS referrer,
    targets.url AS target,
    MIN(followed.day) AS first_day,
    SUM(CASE WHEN followed.day = :last_day THEN followed.clicks ELSE 0 END) AS clicks
  FROM followed
  INNER JOIN known AS sources
    ON sources.id = followed.source_id
  INNER JOIN known AS targets
    ON targets.id = followed.target_id
  GROUP BY
    sources.url,
    targets.url
), links AS (
  SELECT
    all_links.*
  FROM all_links
  INNER JOIN {page_totals} AS opened
    ON opened.url = all_links.referrer
), worths AS (
  SELECT
    'clicks' AS list,
    referrer AS url,
    CAST(SUM(clicks) AS BIGINT) AS worth
  FROM links
  WHERE
    clicks > 0
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
