-- site_scores: the ranked list of sites (TW 4.3), by their flow or by the stock of all pages; ties
--   by temporal pages, then name
-- inputs: scored_sites
-- parameters: day, by_flow, min_pages, min_clients, top_k
-- output: site_scores
-- grain: site
SELECT
    $day AS day,
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
    CASE WHEN pages > 0 OR $by_flow AND flow_pages > 0 THEN merit END AS merit,
    clients,
    first_seen,
    last_seen,
    is_quiet,
    CASE WHEN is_ranked THEN place END AS rank,
    is_ranked AND place <= $top_k AND (merit > 0 OR NOT $by_flow) AS is_selected
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY is_ranked ORDER BY merit DESC, temporal_pages DESC, site
        ) AS place
    FROM (
        SELECT
            *,
            CASE
                WHEN $by_flow THEN temporal_pages + flow_temporal_pages > 0
                ELSE pages >= $min_pages AND temporal_pages + young_temporal_pages > 0
            END AND clients >= $min_clients AND NOT is_quiet AS is_ranked
        FROM scored_sites
    )
)
ORDER BY is_ranked DESC, place
