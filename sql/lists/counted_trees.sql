-- counted_trees: every folder and program with the counts of all pages beneath it (NP 5.2)
-- inputs: tree_sums, section_clients
-- parameters: day
-- output: counted_trees
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
    own_flow_pages,
    own_old_pages,
    pages,
    temporal_pages,
    news_pages,
    curve_pages,
    aged_pages,
    flow_pages,
    flow_thousandths,
    old_pages,
    old_temporal_pages,
    views,
    temporal_views,
    recent_views,
    view_squares,
    greatest(sums.clients, coalesce(section_clients.clients, 0)) AS clients
FROM tree_sums AS sums
LEFT JOIN section_clients ON section_clients.prefix = sums.prefix
ORDER BY site, sums.prefix
