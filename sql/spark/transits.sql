-- transits: translated from sql/days/transits.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: requests, urls
-- parameters: none
SELECT DISTINCT
  requests.day,
  sources.number AS referrer,
  targets.number AS target,
  requests.client
FROM {requests} AS requests
INNER JOIN {urls} AS targets
  ON targets.url = requests.url
LEFT JOIN {urls} AS sources
  ON sources.url = requests.referrer
WHERE
  requests.referrer IS NULL OR requests.referrer <> requests.url
ORDER BY
  target NULLS LAST,
  referrer,
  client NULLS LAST
