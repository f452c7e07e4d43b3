-- clicked_pages: translated from sql/hubs/clicked_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_totals, transits, urls
-- parameters: most
WITH clicks AS (
  SELECT
    day,
    referrer,
    COUNT(*) AS clicks
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
  GROUP BY
    day,
    referrer
), placed AS (
  SELECT
    url,
    clicks,
    ROW_NUMBER() OVER (ORDER BY clicks DESC, url NULLS LAST) - 1 AS page
  FROM (
    SELECT
      urls.url,
      CAST(SUM(clicks.clicks) AS BIGINT) AS clicks
    FROM clicks
    INNER JOIN {urls} AS urls
      ON urls.day = clicks.day AND urls.number = clicks.referrer
    INNER JOIN {page_totals} AS page_totals
      ON page_totals.url = urls.url
    GROUP BY
      urls.url
  )
)
SELECT
  page,
  url,
  TRUE AS is_opened,
  clicks
FROM placed
WHERE
  page < :most
ORDER BY
  page NULLS LAST
