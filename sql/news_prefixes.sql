-- news_prefixes: where the walk from each root stops (NP 5.2): sections above the threshold that
--   lie under no such section; those that too few clients know are left out
-- inputs: scored_prefixes, section_paths
-- parameters: day, min_pages, threshold, confidence, min_clients
-- output: news_prefixes
-- grain: prefix
WITH good AS (
    SELECT * FROM scored_prefixes WHERE pages >= $min_pages AND bound > $threshold
)

SELECT
    $day AS day,
    site,
    prefix,
    is_program,
    pages,
    news_pages,
    views,
    score,
    bound,
    clients,
    $threshold AS threshold,
    $min_pages AS min_pages,
    $confidence AS confidence
FROM good
WHERE
    clients >= $min_clients
    AND prefix NOT IN (
        SELECT section_paths.section
        FROM section_paths
        INNER JOIN good ON good.prefix = section_paths.prefix
        WHERE section_paths.prefix <> section_paths.section
    )
ORDER BY site, prefix
