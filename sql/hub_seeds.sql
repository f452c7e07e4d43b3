-- hub_seeds: the hubs chosen, under their URLs
-- inputs: chosen_hubs, link_pages
-- parameters: day
-- output: hub_seeds
-- grain: url
SELECT
    $day AS day,
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
FROM chosen_hubs AS hubs
INNER JOIN link_pages AS pages ON pages.page = hubs.page
ORDER BY coalesce(hubs.rank, 9223372036854775807), hubs.paper_rank
