-- hub_seeds: translated from sql/hubs/hub_seeds.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: ranked_hubs
-- parameters: day
SELECT
  :day AS day,
  url,
  site,
  clients,
  temporal_pages,
  rank,
  paper_rank,
  greedy_rank,
  gain,
  covered,
  coverage,
  tier,
  is_entrance,
  basis,
  new_per_day,
  new_per_day_low,
  new_per_day_high,
  new_per_visit,
  half_life_hours,
  interest_missed,
  revisit_minutes
FROM {ranked_hubs} AS ranked_hubs
ORDER BY
  COALESCE(rank, 9223372036854775807) NULLS LAST,
  COALESCE(paper_rank, 9223372036854775807) NULLS LAST,
  url NULLS LAST
