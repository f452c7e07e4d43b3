-- crawl_transits: made from sql/crawl_transits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: crawl_triples
-- parameters: before, since
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
      is_before AND :before
    ) OR (
      is_since AND :since
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
