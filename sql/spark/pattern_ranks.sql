-- pattern_ranks: translated from sql/patterns/pattern_ranks.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: pattern_flow, prefix_trees, ranked_patterns
-- parameters: stock_weight, strength
WITH sites AS (
  SELECT
    site,
    SUM((
      1 + flow_pages
    ) * flow_score) / SUM(1 + flow_pages) AS share
  FROM {prefix_trees} AS prefix_trees
  WHERE
    depth = 0
  GROUP BY
    site
), counted AS (
  SELECT
    ranked_patterns.*,
    COALESCE(pattern_flow.flow_pages, 0) AS born,
    CAST(COALESCE(pattern_flow.flow_thousandths, 0) AS DOUBLE) / 1000 AS born_temporal,
    COALESCE(temporal_share, 0) * labelled_pages AS stock_temporal,
    COALESCE(sites.share, 0) AS site_share,
    NOT sites.share IS NULL AS knows_site
  FROM {ranked_patterns} AS ranked_patterns
  LEFT JOIN {pattern_flow} AS pattern_flow
    ON pattern_flow.site = ranked_patterns.site
    AND pattern_flow.pattern = ranked_patterns.pattern
  LEFT JOIN sites
    ON sites.site = ranked_patterns.site
)
SELECT
  day,
  site,
  pattern,
  template,
  is_public,
  volume,
  visits,
  referrals,
  authority,
  hub,
  fetch_score,
  rank_volume,
  rank_visits,
  rank_average_visits,
  rank_referrals,
  rank_average_referrals,
  rank_fetch,
  rank_discovery,
  missing_ranks,
  is_converged,
  rounds,
  movement,
  components,
  is_isolated,
  labelled_pages,
  temporal_share,
  new_pages_per_day,
  born AS flow_pages,
  born_temporal AS flow_temporal_pages,
  CASE
    WHEN born + labelled_pages > 0 OR knows_site
    THEN ROUND(
      (
        born_temporal + :stock_weight * stock_temporal + :strength * site_share
      ) / (
        born + :stock_weight * labelled_pages + :strength
      ),
      12
    )
  END AS flow_score
FROM counted
ORDER BY
  site NULLS LAST,
  pattern NULLS LAST
