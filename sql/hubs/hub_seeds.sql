-- hub_seeds: the hubs chosen, the best first
-- inputs: ranked_hubs
-- parameters: day
-- output: hub_seeds
-- grain: url
SELECT
    $day AS day,
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
FROM ranked_hubs
ORDER BY
    coalesce(rank, 9223372036854775807),
    coalesce(paper_rank, 9223372036854775807),
    url
