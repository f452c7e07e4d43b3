-- prefix_trees: every folder and program with the counts of all pages beneath it (NP 5.2)
-- inputs: section_sums, section_paths, section_clients
-- parameters: day
-- output: prefix_trees
-- grain: prefix
SELECT
    $day AS day,
    site,
    sums.prefix AS prefix,
    parent,
    depth,
    is_program,
    first_seen,
    own_pages,
    pages,
    temporal_pages,
    news_pages,
    curve_pages,
    aged_pages,
    views,
    temporal_views,
    recent_views,
    view_squares,
    greatest(most_clients, coalesce(clients, 0)) AS clients
FROM (
    SELECT
        site,
        prefix,
        parent,
        depth,
        is_program,
        min(first_seen) AS first_seen,
        sum(CASE WHEN section_paths.section = prefix THEN pages ELSE 0 END) AS own_pages,
        sum(pages) AS pages,
        sum(temporal_pages) AS temporal_pages,
        sum(news_pages) AS news_pages,
        sum(curve_pages) AS curve_pages,
        sum(aged_pages) AS aged_pages,
        sum(views) AS views,
        sum(temporal_views) AS temporal_views,
        sum(recent_views) AS recent_views,
        sum(view_squares) AS view_squares,
        max(clients) AS most_clients
    FROM section_paths
    INNER JOIN section_sums ON section_sums.section = section_paths.section
    GROUP BY site, prefix, parent, depth, is_program
) AS sums
LEFT JOIN section_clients ON section_clients.prefix = sums.prefix
ORDER BY site, sums.prefix
