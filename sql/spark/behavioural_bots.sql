-- behavioural_bots: translated from sql/days/behavioural_bots.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: segments
-- parameters: pages_per_minute, pages_without_referrer
SELECT
  client,
  CASE WHEN fastest > :pages_per_minute THEN 'bot_rate' ELSE 'bot_no_referrer' END AS reason,
  pages
FROM (
  SELECT
    client,
    SUM(pages) AS pages,
    MAX(pages) AS fastest,
    SUM(referred) AS referred
  FROM (
    SELECT
      client,
      DATE_TRUNC('MINUTE', ts) AS minute,
      COUNT(*) AS pages,
      COUNT(referrer) AS referred
    FROM {segments} AS segments
    GROUP BY
      client,
      DATE_TRUNC('MINUTE', ts)
  ) AS minutes
  GROUP BY
    client
) AS clients
WHERE
  fastest > :pages_per_minute
  OR (
    :pages_without_referrer > 0 AND pages >= :pages_without_referrer AND referred = 0
  )
ORDER BY
  client NULLS LAST
