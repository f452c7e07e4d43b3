-- crawl_transits: made from sql/crawl_transits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: crawled_sites, transits
-- parameters: site
WITH pairs AS (
  SELECT
    REGEXP_EXTRACT(target, :site) AS site,
    referrer,
    target,
    COUNT(DISTINCT client) AS clients
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
  GROUP BY
    referrer,
    target
)
SELECT
  pairs.site,
  pairs.referrer,
  pairs.target,
  pairs.clients
FROM pairs
INNER JOIN {crawled_sites} AS crawled_sites
  ON crawled_sites.site = pairs.site
ORDER BY
  pairs.site NULLS LAST,
  pairs.referrer NULLS LAST,
  pairs.target NULLS LAST
