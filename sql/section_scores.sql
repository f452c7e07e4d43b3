-- section_scores: the scores of folders and programs (TW 6), and the ranked list of those that
--   stand for their site: a section is split where one beneath it is certainly better
-- inputs: scored_sections, section_paths
-- parameters: day, min_pages, min_clients, top_k, recent_days, quiet_days, quiet_share, first, days, seen_before
-- output: section_scores
-- grain: prefix
WITH beneath AS (
    SELECT section_paths.prefix AS prefix, max(bound) AS best
    FROM section_paths
    INNER JOIN scored_sections ON scored_sections.prefix = section_paths.section
    WHERE section_paths.prefix <> section_paths.section AND pages >= $min_pages
    GROUP BY section_paths.prefix
),

splits AS (
    SELECT scored_sections.prefix AS prefix, coalesce(best > score, FALSE) AS is_split
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
    clients,
    is_whole,
    is_quiet,
    CASE WHEN is_ranked THEN place END AS rank,
    is_ranked AND place <= $top_k AS is_selected
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY is_ranked ORDER BY bound DESC, temporal_pages DESC, prefix
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
            clients,
            is_whole,
            is_quiet,
            is_whole AND pages >= $min_pages AND temporal_pages > 0
                AND clients >= $min_clients AND NOT is_quiet AS is_ranked
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
