-- section_scores: translated from sql/lists/section_scores.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: scored_sections, section_paths
-- parameters: by_flow, day, days, doubt, first, min_clients, min_pages, quiet_days, quiet_share, recent_days, seen_before, top_k
WITH beneath AS (
  SELECT
    section_paths.prefix AS prefix,
    MAX(CASE WHEN pages >= :min_pages THEN bound END) AS best,
    MAX(merit) AS most_merit,
    MIN(chance / NULLIF(weight, 0)) AS least
  FROM {section_paths} AS section_paths
  INNER JOIN {scored_sections} AS scored_sections
    ON scored_sections.prefix = section_paths.section
  WHERE
    section_paths.prefix <> section_paths.section
  GROUP BY
    section_paths.prefix
), splits AS (
  SELECT
    scored_sections.prefix AS prefix,
    COALESCE(
      CASE
        WHEN NOT :by_flow
        THEN best > score
        WHEN merit > 0
        THEN least * weight <= :doubt
        ELSE most_merit > 0
      END,
      FALSE
    ) AS is_split
  FROM {scored_sections} AS scored_sections
  LEFT JOIN beneath
    ON beneath.prefix = scored_sections.prefix
), wholes AS (
  SELECT
    section_paths.section AS section,
    MIN(CASE WHEN is_split <> (
      splits.prefix = section
    ) THEN 1 ELSE 0 END) = 1 AS is_whole
  FROM {section_paths} AS section_paths
  INNER JOIN splits
    ON splits.prefix = section_paths.prefix
  GROUP BY
    section_paths.section
)
SELECT
  :day AS day,
  site,
  prefix,
  is_program,
  depth,
  pages,
  temporal_pages,
  views,
  temporal_views,
  score_1,
  score_2,
  score,
  bound,
  flow_pages,
  flow_temporal_pages,
  flow_score,
  flow_bound,
  flow_basis,
  merit,
  clients,
  is_whole,
  is_quiet,
  CASE WHEN is_ranked THEN place END AS rank,
  is_ranked AND place <= :top_k AND (
    merit > 0 OR NOT :by_flow
  ) AS is_selected
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY is_ranked
      ORDER BY merit DESC, temporal_pages DESC, prefix NULLS LAST
    ) AS place
  FROM (
    SELECT
      site,
      prefix,
      is_program,
      depth,
      pages,
      temporal_pages,
      views,
      temporal_views,
      score_1,
      score_2,
      score,
      bound,
      flow_pages,
      flow_temporal_pages,
      flow_score,
      flow_bound,
      flow_basis,
      merit,
      clients,
      is_whole,
      is_quiet,
      is_whole
      AND CASE
        WHEN :by_flow
        THEN temporal_pages + flow_temporal_pages > 0
        ELSE pages >= :min_pages AND temporal_pages > 0
      END
      AND clients >= :min_clients
      AND NOT is_quiet AS is_ranked
    FROM (
      SELECT
        *,
        DATEDIFF(DAY, first_seen, :day) >= :quiet_days
        AND CAST(recent_views AS DOUBLE) / :recent_days < :quiet_share * CAST(views AS DOUBLE) / observed_days AS is_quiet
      FROM (
        SELECT
          *,
          GET(seen_before, (
            :days + 1
          ) - 1) - GET(seen_before, (
            CAST(DATEDIFF(DAY, :first, first_seen) + 1 AS INT)
          ) - 1) AS observed_days
        FROM (
          SELECT
            *,
            CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before
          FROM {scored_sections} AS scored_sections
        )
      )
    ) AS scored
    INNER JOIN wholes
      ON wholes.section = scored.prefix
  )
)
ORDER BY
  site NULLS LAST,
  prefix NULLS LAST
