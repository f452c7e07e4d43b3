-- page_referrals: translated from sql/traffic/page_referrals.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_transits
-- parameters: none
SELECT
  referrer AS page,
  COUNT(*) AS referrals
FROM {page_transits} AS page_transits
WHERE
  NOT referrer IS NULL
GROUP BY
  referrer
ORDER BY
  page NULLS LAST
