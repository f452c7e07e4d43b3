-- site_scores: translated from sql/lists/site_scores.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: scored_sites
-- parameters: by_flow, day, min_clients, min_pages, top_k
SELECT
  :day AS day,
  site,
  hosts,
  pages,
  temporal_pages,
  views,
  temporal_views,
  young_pages,
  young_temporal_pages,
  young_temporal_views,
  CASE WHEN pages > 0 THEN score_1 END AS score_1,
  CASE WHEN pages > 0 THEN score_2 END AS score_2,
  CASE WHEN pages > 0 THEN score END AS score,
  CASE WHEN pages > 0 THEN bound END AS bound,
  flow_pages,
  flow_temporal_pages,
  flow_score,
  flow_bound,
  flow_basis,
  CASE WHEN pages > 0 OR :by_flow AND flow_pages > 0 THEN merit END AS merit,
  clients,
  first_seen,
  last_seen,
  is_quiet,
  CASE WHEN is_ranked THEN place END AS rank,
  is_ranked AND place <= :top_k AND (
    merit > 0 OR NOT :by_flow
  ) AS is_selected
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY is_ranked ORDER BY merit DESC, temporal_pages DESC, site NULLS LAST) AS place
  FROM (
    SELECT
      *,
      CASE
        WHEN :by_flow
        THEN temporal_pages + flow_temporal_pages > 0
        ELSE pages >= :min_pages AND temporal_pages + young_temporal_pages > 0
      END
      AND clients >= :min_clients
      AND NOT is_quiet AS is_ranked
    FROM {scored_sites} AS scored_sites
  )
)
ORDER BY
  is_ranked DESC,
  place NULLS LAST
