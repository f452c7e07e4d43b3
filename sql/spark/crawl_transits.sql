-- crawl_transits: made from sql/crawl_transits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: crawled_sites, transits
-- parameters: site
SELECT
  crawled_sites.site,
  transits.referrer,
  transits.target,
  COUNT(DISTINCT transits.client) AS clients
FROM {transits} AS transits
INNER JOIN {crawled_sites} AS crawled_sites
  ON crawled_sites.site = REGEXP_EXTRACT(transits.target, :site)
WHERE
  NOT transits.referrer IS NULL
GROUP BY
  crawled_sites.site,
  transits.referrer,
  transits.target
ORDER BY
  crawled_sites.site NULLS LAST,
  transits.referrer NULLS LAST,
  transits.target NULLS LAST
