-- urls: translated from sql/days/urls.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counts, requests
-- parameters: site
WITH named AS (
  SELECT
    day,
    url,
    MAX(site) AS site
  FROM (
    SELECT
      day,
      url,
      site
    FROM {requests} AS requests
    UNION ALL
    SELECT
      day,
      referrer AS url,
      CAST(NULL AS STRING) AS site
    FROM {requests} AS requests
    WHERE
      NOT referrer IS NULL
    UNION ALL
    SELECT
      day,
      url,
      CASE WHEN views > 0 THEN site END AS site
    FROM {counts} AS counts
    UNION ALL
    SELECT
      day,
      referrer AS url,
      CAST(NULL AS STRING) AS site
    FROM {counts} AS counts
    WHERE
      NOT referrer IS NULL
  ) AS ends
  GROUP BY
    day,
    url
), urls AS (
  SELECT
    day,
    CASE WHEN site IS NULL THEN 1 ELSE 0 END AS part,
    COALESCE(site, REGEXP_EXTRACT(url, :site)) AS site,
    url
  FROM named
), sites AS (
  SELECT
    part,
    site,
    SUM(urls) OVER (ORDER BY part NULLS LAST, site NULLS LAST) - urls AS first
  FROM (
    SELECT
      part,
      site,
      COUNT(*) AS urls
    FROM urls
    GROUP BY
      part,
      site
  ) AS sizes
)
SELECT
  urls.day,
  sites.first + ROW_NUMBER() OVER (PARTITION BY urls.part, urls.site ORDER BY urls.url NULLS LAST) - 1 AS number,
  urls.site,
  urls.url,
  urls.part = 0 AS is_opened
FROM urls
INNER JOIN sites
  ON sites.part = urls.part AND sites.site = urls.site
ORDER BY
  number NULLS LAST
