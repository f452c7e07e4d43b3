-- front_pages: translated from sql/hubs/front_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: lonely_sites, page_totals, transits, urls
-- parameters: none
WITH opened AS (
  SELECT
    pages.site,
    pages.url
  FROM {page_totals} AS pages
  INNER JOIN {lonely_sites} AS sites
    ON sites.site = pages.site
  WHERE
    pages.url = 'https://' || sites.site || '/'
    OR pages.url = 'http://' || sites.site || '/'
), followed AS (
  SELECT
    day,
    referrer,
    COUNT(DISTINCT client) AS followers
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
  GROUP BY
    day,
    referrer
), left_from AS (
  SELECT
    urls.site,
    urls.url,
    followed.followers,
    ROW_NUMBER() OVER (PARTITION BY urls.site ORDER BY followed.followers DESC, urls.url NULLS LAST) AS place
  FROM followed
  INNER JOIN {urls} AS urls
    ON urls.day = followed.day AND urls.number = followed.referrer
  INNER JOIN {lonely_sites} AS sites
    ON sites.site = urls.site
), fronts AS (
  SELECT
    url,
    CAST(NULL AS BIGINT) AS followers
  FROM opened
  UNION ALL
  SELECT
    url,
    followers
  FROM left_from
  WHERE
    place = 1
    AND NOT EXISTS(
      SELECT
        1
      FROM (
        SELECT
          site AS absent_key
        FROM opened
      ) AS absent
      WHERE
        absent.absent_key = site
    )
)
SELECT
  ROW_NUMBER() OVER (ORDER BY url NULLS LAST) - 1 AS page,
  url,
  followers
FROM fronts
ORDER BY
  page NULLS LAST
