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
), named AS (
  SELECT
    urls.url,
    MAX(CASE WHEN urls.is_opened THEN 1 ELSE 0 END) AS is_opened,
    CAST(SUM(clicks.clicks) AS BIGINT) AS clicks
  FROM clicks
  INNER JOIN {urls} AS urls
    ON urls.day = clicks.day AND urls.number = clicks.referrer
  GROUP BY
    urls.url
), foremost AS (
  SELECT
    url,
    clicks
  FROM (
    SELECT
      url,
      clicks,
      SUM(is_opened) OVER (ORDER BY clicks DESC, url NULLS LAST) AS opened
    FROM named
  ) AS counted
  WHERE
    opened <= :most
), placed AS (
  SELECT
    foremost.url,
    pages.number,
    foremost.clicks,
    ROW_NUMBER() OVER (ORDER BY foremost.clicks DESC, foremost.url NULLS LAST) - 1 AS page
  FROM foremost
  INNER JOIN {page_totals} AS pages
    ON pages.url = foremost.url
)
SELECT
  page,
  url,
  number,
  clicks
FROM placed
WHERE
  page < :most
ORDER BY
  page NULLS LAST
