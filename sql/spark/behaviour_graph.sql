-- behaviour_graph: translated from sql/patterns/behaviour_graph.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: url_patterns
-- parameters: none
SELECT
  edges.day,
  edges.site,
  edges.source,
  edges.target,
  edges.transits,
  CAST(edges.transits AS DOUBLE) / CAST(edges.referrals AS DOUBLE) AS out_share,
  CAST(edges.transits AS DOUBLE) / CAST(targets.visits AS DOUBLE) AS in_share
FROM (
  SELECT
    day,
    site,
    source,
    referrals,
    link.page AS target,
    link.transits AS transits
  FROM (
    SELECT
      day,
      site,
      pattern AS source,
      referrals,
      EXPLODE(links) AS link
    FROM {url_patterns} AS url_patterns
    WHERE
      is_pattern
  )
) AS edges
INNER JOIN {url_patterns} AS targets
  ON targets.site = edges.site AND targets.pattern = edges.target
ORDER BY
  edges.site NULLS LAST,
  edges.source NULLS LAST,
  edges.target NULLS LAST
