-- transits: translated from sql/days/transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: requests
-- parameters: none
SELECT DISTINCT
  day,
  referrer,
  url AS target,
  client
FROM {requests} AS requests
WHERE
  referrer IS NULL OR referrer <> url
ORDER BY
  target NULLS LAST,
  referrer,
  client NULLS LAST
