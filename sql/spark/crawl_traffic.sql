-- crawl_traffic: made from sql/crawl_traffic.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: crawled_sites, transits
-- parameters: site
WITH triples AS (
  SELECT DISTINCT
    transits.referrer,
    transits.target,
    transits.client,
    sources.site AS referrer_site,
    targets.site AS target_site
  FROM {transits} AS transits
  LEFT JOIN {crawled_sites} AS sources
    ON sources.site = REGEXP_EXTRACT(transits.referrer, :site)
  LEFT JOIN {crawled_sites} AS targets
    ON targets.site = REGEXP_EXTRACT(transits.target, :site)
  WHERE
    NOT sources.site IS NULL OR NOT targets.site IS NULL
), ends AS (
  SELECT
    target_site AS site,
    target AS url,
    COUNT(*) AS visits,
    0 AS referrals
  FROM triples
  WHERE
    NOT target_site IS NULL
  GROUP BY
    target_site,
    target
  UNION ALL
  SELECT
    referrer_site AS site,
    referrer AS url,
    0 AS visits,
    COUNT(*) AS referrals
  FROM triples
  WHERE
    NOT referrer_site IS NULL
  GROUP BY
    referrer_site,
    referrer
)
SELECT
  site,
  url,
  SUM(visits) AS visits,
  SUM(referrals) AS referrals
FROM ends
GROUP BY
  site,
  url
ORDER BY
  site NULLS LAST,
  url NULLS LAST
