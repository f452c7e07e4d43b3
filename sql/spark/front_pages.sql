-- front_pages: translated from sql/hubs/front_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: lonely_sites, page_totals, transits, urls
-- parameters: none
WITH followed AS (
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
), named AS (
  SELECT
    site,
    'https://' || site || '/' AS url,
    CAST(NULL AS BIGINT) AS followers
  FROM {lonely_sites} AS lonely_sites
  UNION ALL
  SELECT
    site,
    'http://' || site || '/' AS url,
    CAST(NULL AS BIGINT) AS followers
  FROM {lonely_sites} AS lonely_sites
  UNION ALL
  SELECT
    site,
    url,
    followers
  FROM left_from
  WHERE
    place = 1
), known AS (
  SELECT
    named.site,
    named.url,
    named.followers,
    pages.number
  FROM named
  LEFT JOIN {page_totals} AS pages
    ON pages.url = named.url
), opened AS (
  SELECT
    site
  FROM known
  WHERE
    followers IS NULL AND NOT number IS NULL
)
SELECT
  ROW_NUMBER() OVER (ORDER BY url NULLS LAST) - 1 AS page,
  url,
  number,
  followers
FROM known
WHERE
  (
    followers IS NULL AND NOT number IS NULL
  )
  OR (
    NOT followers IS NULL
    AND NOT EXISTS(
      SELECT
        1
      FROM (
        SELECT
          opened.site AS absent_key
        FROM opened
      ) AS absent
      WHERE
        absent.absent_key = site
    )
  )
ORDER BY
  page NULLS LAST
