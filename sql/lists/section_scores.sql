-- section_scores: the scores of folders and programs (TW 6), and the ranked list of those that
--   stand for their site: by the flow a section is split where a part of it is certainly not worth a
--   place in a list, or nothing but a part is; by the stock where a part is certainly better
-- inputs: scored_sections, section_paths
-- parameters: day, by_flow, doubt, min_pages, min_clients, top_k, recent_days, quiet_days, quiet_share, first, days, seen_before
-- output: section_scores
-- grain: prefix
WITH beneath AS (
    SELECT
        section_paths.prefix AS prefix,
        max(CASE WHEN pages >= $min_pages THEN bound END) AS best,
        max(merit) AS most_merit,
        min(chance / nullif(weight, 0)) AS least
    FROM section_paths
    INNER JOIN scored_sections ON scored_sections.prefix = section_paths.section
    WHERE section_paths.prefix <> section_paths.section
    GROUP BY section_paths.prefix
),

splits AS (
    SELECT
        scored_sections.prefix AS prefix,
        coalesce(
            CASE
                WHEN NOT $by_flow THEN best > score
                -- A part of the pages may be bad by chance in that part of the cases.
                WHEN merit > 0 THEN least * weight <= $doubt
                ELSE most_merit > 0
            END,
            FALSE
        ) AS is_split
    FROM scored_sections
    LEFT JOIN beneath ON beneath.prefix = scored_sections.prefix
),

wholes AS (
    SELECT
        section_paths.section AS section,
        -- All above are split, and the section itself is not.
        min(CASE WHEN is_split <> (splits.prefix = section) THEN 1 ELSE 0 END) = 1 AS is_whole
    FROM section_paths
    INNER JOIN splits ON splits.prefix = section_paths.prefix
    GROUP BY section_paths.section
)

SELECT
    $day AS day,
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
    is_ranked AND place <= $top_k AND (merit > 0 OR NOT $by_flow) AS is_selected
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY is_ranked ORDER BY merit DESC, temporal_pages DESC, prefix
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
            is_whole AND CASE
                WHEN $by_flow THEN temporal_pages + flow_temporal_pages > 0
                ELSE pages >= $min_pages AND temporal_pages > 0
            END AND clients >= $min_clients AND NOT is_quiet AS is_ranked
        FROM (
            SELECT
                *,
                date_diff('day', first_seen, $day) >= $quiet_days
                    AND CAST(recent_views AS DOUBLE) / $recent_days
                        < $quiet_share * CAST(views AS DOUBLE) / observed_days AS is_quiet
            FROM (
                SELECT
                    *,
                    list_extract(seen_before, $days + 1)
                        - list_extract(
                            seen_before, CAST(date_diff('day', $first, first_seen) + 1 AS INTEGER)
                        ) AS observed_days
                FROM (
                    SELECT
                        *,
                        -- Of the window's days, how many are there before each, and in all.
                        CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before
                    FROM scored_sections
                )
            )
        ) AS scored
        INNER JOIN wholes ON wholes.section = scored.prefix
    )
)
ORDER BY site, prefix
