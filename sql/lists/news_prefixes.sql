-- news_prefixes: where the walk from each root stops (NP 5.2): sections above the threshold that
--   lie under no such section; ours goes on where one beneath is certainly not worth it, the more
--   certainly the smaller its part is; those that too few clients know are left out, and those of
--   hosts that have gone quiet
-- inputs: scored_prefixes, section_paths, site_activity
-- parameters: day, rule, min_pages, threshold, confidence, doubt, splits_mixed, min_clients, recent_days, quiet_days, quiet_share
-- output: news_prefixes
-- grain: prefix
WITH beneath AS (
    SELECT section_paths.prefix AS prefix, min(chance / weight) AS least
    FROM section_paths
    INNER JOIN scored_prefixes ON scored_prefixes.prefix = section_paths.section
    WHERE section_paths.prefix <> section_paths.section AND weight >= $min_pages
    GROUP BY section_paths.prefix
),

good AS (
    SELECT scored_prefixes.*
    FROM scored_prefixes
    LEFT JOIN beneath ON beneath.prefix = scored_prefixes.prefix
    WHERE
        is_good
        -- A part of the pages may be bad by chance in that part of the cases (1 for dates).
        AND NOT ($splits_mixed AND coalesce(least * weight <= $doubt, FALSE))
),

quiet AS (
    SELECT host
    FROM site_activity
    WHERE
        date_diff('day', first_seen, $day) >= $quiet_days
        AND CAST(recent_views AS DOUBLE) / $recent_days
            < $quiet_share * CAST(all_views AS DOUBLE) / observed_days
)

SELECT
    $day AS day,
    site,
    prefix,
    is_program,
    pages,
    news_pages,
    flow_pages,
    flow_temporal_pages,
    views,
    $rule AS rule,
    score,
    bound,
    flow_basis,
    clients,
    $threshold AS threshold,
    $min_pages AS min_pages,
    $confidence AS confidence
FROM good
WHERE
    clients >= $min_clients
    AND site NOT IN (SELECT host FROM quiet)
    AND prefix NOT IN (
        SELECT section_paths.section
        FROM section_paths
        INNER JOIN good ON good.prefix = section_paths.prefix
        WHERE section_paths.prefix <> section_paths.section
    )
ORDER BY site, prefix
