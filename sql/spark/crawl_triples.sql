-- crawl_triples: translated from sql/crawls/crawl_triples.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: crawled_sites, transits, urls
-- parameters: second_from, third_from
WITH known AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), urls.day) * 4294967296 + urls.number AS id,
    urls.url,
    crawled_sites.site
  FROM {urls} AS urls
  LEFT JOIN {crawled_sites} AS crawled_sites
    ON crawled_sites.site = urls.site
), steps AS (
  SELECT
    day,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + target AS target_id,
    client
  FROM {transits} AS transits
)
SELECT
  sources.url AS referrer,
  targets.url AS target,
  steps.client,
  sources.site AS referrer_site,
  targets.site AS target_site,
  MIN(steps.day) < :second_from AS in_first,
  COUNT(CASE WHEN steps.day >= :second_from AND steps.day < :third_from THEN 1 END) > 0 AS in_second,
  MAX(steps.day) >= :third_from AS in_third
FROM steps
INNER JOIN known AS targets
  ON targets.id = steps.target_id
LEFT JOIN known AS sources
  ON sources.id = steps.source_id
WHERE
  NOT sources.site IS NULL OR NOT targets.site IS NULL
GROUP BY
  sources.url,
  targets.url,
  steps.client,
  sources.site,
  targets.site
