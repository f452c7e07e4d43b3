-- site_changes: translated from sql/lists/site_changes.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: earlier, now
-- parameters: day, earlier_day, has_earlier, min_clients, observed_from
WITH pairs AS (
  SELECT
    COALESCE(now.site, earlier.site) AS site,
    COALESCE(now.is_selected, FALSE) AS is_in,
    COALESCE(earlier.is_selected, FALSE) AS was_in,
    CASE WHEN now.is_selected THEN now.rank END AS rank,
    CASE WHEN earlier.is_selected THEN earlier.rank END AS earlier_rank,
    now.bound AS bound,
    earlier.bound AS earlier_bound,
    COALESCE(now.temporal_pages, 0) AS temporal_pages,
    COALESCE(now.first_seen, earlier.first_seen) AS first_seen,
    COALESCE(now.last_seen, earlier.last_seen) AS last_seen,
    COALESCE(now.first_seen > :earlier_day AND now.first_seen > :observed_from, FALSE) AS is_first_seen,
    (
      now.site IS NULL OR now.is_quiet
    ) AND COALESCE(NOT earlier.is_quiet, FALSE) AS is_gone_quiet
  FROM {now} AS now
  FULL OUTER JOIN {earlier} AS earlier
    ON earlier.site = now.site
  WHERE
    GREATEST(COALESCE(now.clients, 0), COALESCE(earlier.clients, 0)) >= :min_clients
), places AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY is_in AND was_in ORDER BY rank NULLS LAST) AS place,
    ROW_NUMBER() OVER (PARTITION BY is_in AND was_in ORDER BY earlier_rank NULLS LAST) AS earlier_place
  FROM pairs
)
SELECT
  :day AS day,
  site,
  CASE
    WHEN NOT is_in AND NOT was_in
    THEN 'unlisted'
    WHEN NOT :has_earlier
    THEN 'listed'
    WHEN NOT was_in
    THEN 'entered'
    WHEN NOT is_in
    THEN 'left'
    WHEN place < earlier_place
    THEN 'rising'
    WHEN place > earlier_place
    THEN 'falling'
    ELSE 'steady'
  END AS change,
  rank,
  earlier_rank,
  bound,
  earlier_bound,
  temporal_pages,
  first_seen,
  last_seen,
  is_first_seen,
  is_gone_quiet,
  :has_earlier AS has_earlier,
  :earlier_day AS earlier_day
FROM places
WHERE
  is_in OR was_in OR is_first_seen OR is_gone_quiet
ORDER BY
  site NULLS LAST
