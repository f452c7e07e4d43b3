-- requests: translated from sql/days/requests.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: behavioural_bots, segments
-- parameters: none
SELECT
  day,
  ts,
  client,
  url,
  referrer,
  site
FROM {segments} AS segments
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM (
      SELECT
        client AS absent_key
      FROM {behavioural_bots} AS behavioural_bots
    ) AS absent
    WHERE
      absent.absent_key = client
  )
ORDER BY
  ts NULLS LAST,
  client NULLS LAST,
  url NULLS LAST,
  referrer
