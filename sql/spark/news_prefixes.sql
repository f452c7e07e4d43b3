-- news_prefixes: translated from sql/lists/news_prefixes.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: scored_prefixes, section_paths, site_activity
-- parameters: confidence, day, doubt, min_clients, min_pages, quiet_days, quiet_share, recent_days, rule, splits_mixed, threshold
WITH beneath AS (
  SELECT
    section_paths.prefix AS prefix,
    MIN(chance / weight) AS least
  FROM {section_paths} AS section_paths
  INNER JOIN {scored_prefixes} AS scored_prefixes
    ON scored_prefixes.prefix = section_paths.section
  WHERE
    section_paths.prefix <> section_paths.section AND weight >= :min_pages
  GROUP BY
    section_paths.prefix
), good AS (
  SELECT
    scored_prefixes.*
  FROM {scored_prefixes} AS scored_prefixes
  LEFT JOIN beneath
    ON beneath.prefix = scored_prefixes.prefix
  WHERE
    is_good AND NOT (
      :splits_mixed AND COALESCE(least * weight <= :doubt, FALSE)
    )
), quiet AS (
  SELECT
    host
  FROM {site_activity} AS site_activity
  WHERE
    DATEDIFF(DAY, first_seen, :day) >= :quiet_days
    AND CAST(recent_views AS DOUBLE) / :recent_days < :quiet_share * CAST(all_views AS DOUBLE) / observed_days
)
SELECT
  :day AS day,
  site,
  prefix,
  is_program,
  pages,
  news_pages,
  flow_pages,
  flow_temporal_pages,
  views,
  :rule AS rule,
  score,
  bound,
  flow_basis,
  clients,
  :threshold AS threshold,
  :min_pages AS min_pages,
  :confidence AS confidence
FROM good
WHERE
  clients >= :min_clients
  AND NOT EXISTS(
    SELECT
      1
    FROM (
      SELECT
        host AS absent_key
      FROM quiet
    ) AS absent
    WHERE
      absent.absent_key = site
  )
  AND NOT EXISTS(
    SELECT
      1
    FROM (
      SELECT
        section_paths.section AS absent_key
      FROM {section_paths} AS section_paths
      INNER JOIN good
        ON good.prefix = section_paths.prefix
      WHERE
        section_paths.prefix <> section_paths.section
    ) AS absent
    WHERE
      absent.absent_key = prefix
  )
ORDER BY
  site NULLS LAST,
  prefix NULLS LAST
