-- hub_seeds: the hubs chosen, the best first
-- inputs: ranked_hubs
-- parameters: day
-- output: hub_seeds
-- grain: url
SELECT
    $day AS day,
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
FROM ranked_hubs
ORDER BY coalesce(rank, 9223372036854775807), paper_rank
