-- moved_referrers: translated from sql/traffic/moved_referrers.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: transits
-- parameters: site
SELECT
  REGEXP_EXTRACT(url, :site) AS site,
  url
FROM (
  SELECT DISTINCT
    referrer AS url
  FROM {transits} AS transits
  WHERE
    NOT referrer IS NULL
) AS named
ORDER BY
  site NULLS LAST,
  url NULLS LAST
