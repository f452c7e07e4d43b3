-- crawl_transits: translated from sql/crawls/crawl_transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: crawl_triples
-- parameters: first, second, third
SELECT
  target_site AS site,
  referrer,
  target,
  COUNT(*) AS clients
FROM {crawl_triples} AS crawl_triples
WHERE
  NOT target_site IS NULL
  AND NOT referrer IS NULL
  AND (
    (
      in_first AND :first
    )
    OR (
      in_second AND :second
    )
    OR (
      in_third AND :third
    )
  )
GROUP BY
  target_site,
  referrer,
  target
ORDER BY
  target_site NULLS LAST,
  referrer NULLS LAST,
  target NULLS LAST
