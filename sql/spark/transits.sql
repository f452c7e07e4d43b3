-- transits: made from sql/transits.sql by `python -m temporal_assets.engines.translation`; edit that
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
