-- hub_seeds: made from sql/hub_seeds.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: chosen_hubs, link_pages
-- parameters: day
SELECT
  :day AS day,
  pages.url,
  hubs.site,
  pages.is_external,
  hubs.clients,
  hubs.temporal_pages,
  hubs.rank,
  hubs.paper_rank,
  hubs.gain,
  hubs.covered,
  hubs.coverage,
  hubs.tier,
  hubs.new_per_day,
  hubs.half_life_hours,
  hubs.revisit_minutes
FROM {chosen_hubs} AS hubs
INNER JOIN {link_pages} AS pages
  ON pages.page = hubs.page
ORDER BY
  COALESCE(hubs.rank, 9223372036854775807) NULLS LAST,
  hubs.paper_rank NULLS LAST
