-- crawl_traffic: translated from sql/crawls/crawl_traffic.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: crawl_triples
-- parameters: first, second, third
WITH triples AS (
  SELECT
    referrer,
    target,
    referrer_site,
    target_site
  FROM {crawl_triples} AS crawl_triples
  WHERE
    (
      in_first AND :first
    )
    OR (
      in_second AND :second
    )
    OR (
      in_third AND :third
    )
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
HAVING
  SUM(visits) > 0
ORDER BY
  site NULLS LAST,
  url NULLS LAST
