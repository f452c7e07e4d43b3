-- crawl_traffic: made from sql/crawl_traffic.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: crawled_sites, transits
-- parameters: site
WITH triples AS (
  SELECT DISTINCT
    referrer,
    target,
    client
  FROM {transits} AS transits
), ends AS (
  SELECT
    target AS url,
    COUNT(*) AS visits,
    0 AS referrals
  FROM triples
  GROUP BY
    target
  UNION ALL
  SELECT
    referrer AS url,
    0 AS visits,
    COUNT(*) AS referrals
  FROM triples
  WHERE
    NOT referrer IS NULL
  GROUP BY
    referrer
), pages AS (
  SELECT
    REGEXP_EXTRACT(url, :site) AS site,
    url,
    SUM(visits) AS visits,
    SUM(referrals) AS referrals
  FROM ends
  GROUP BY
    url
)
SELECT
  pages.site,
  pages.url,
  pages.visits,
  pages.referrals
FROM pages
INNER JOIN {crawled_sites} AS crawled_sites
  ON crawled_sites.site = pages.site
ORDER BY
  pages.site NULLS LAST,
  pages.url NULLS LAST
