-- crawl_triples: translated from sql/crawls/crawl_triples.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: crawled_sites, transits
-- parameters: second_from, site, third_from
SELECT
  transits.referrer,
  transits.target,
  transits.client,
  sources.site AS referrer_site,
  targets.site AS target_site,
  MIN(transits.day) < :second_from AS in_first,
  COUNT(CASE WHEN transits.day >= :second_from AND transits.day < :third_from THEN 1 END) > 0 AS in_second,
  MAX(transits.day) >= :third_from AS in_third
FROM {transits} AS transits
LEFT JOIN {crawled_sites} AS sources
  ON sources.site = REGEXP_EXTRACT(transits.referrer, :site)
LEFT JOIN {crawled_sites} AS targets
  ON targets.site = REGEXP_EXTRACT(transits.target, :site)
WHERE
  NOT sources.site IS NULL OR NOT targets.site IS NULL
GROUP BY
  transits.referrer,
  transits.target,
  transits.client,
  sources.site,
  targets.site
