-- hub_seeds: made from sql/hub_seeds.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: ranked_hubs
-- parameters: day
SELECT
  :day AS day,
  url,
  site,
  is_external,
  clients,
  temporal_pages,
  rank,
  paper_rank,
  gain,
  covered,
  coverage,
  tier,
  new_per_day,
  half_life_hours,
  revisit_minutes
FROM {ranked_hubs} AS ranked_hubs
ORDER BY
  COALESCE(rank, 9223372036854775807) NULLS LAST,
  paper_rank NULLS LAST
