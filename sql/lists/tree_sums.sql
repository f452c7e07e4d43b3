-- tree_sums: every folder and program with the counts of all pages beneath it
-- inputs: section_sums, section_paths
-- parameters: none
-- output: tree_sums
-- grain: prefix
SELECT
    site,
    prefix,
    parent,
    depth,
    is_program,
    min(first_seen) AS first_seen,
    sum(CASE WHEN section_paths.section = prefix THEN pages ELSE 0 END) AS own_pages,
    sum(CASE WHEN section_paths.section = prefix THEN flow_pages ELSE 0 END) AS own_flow_pages,
    sum(CASE WHEN section_paths.section = prefix THEN old_pages ELSE 0 END) AS own_old_pages,
    sum(pages) AS pages,
    sum(temporal_pages) AS temporal_pages,
    sum(news_pages) AS news_pages,
    sum(curve_pages) AS curve_pages,
    sum(aged_pages) AS aged_pages,
    sum(flow_pages) AS flow_pages,
    sum(flow_thousandths) AS flow_thousandths,
    sum(old_pages) AS old_pages,
    sum(old_temporal_pages) AS old_temporal_pages,
    sum(views) AS views,
    sum(temporal_views) AS temporal_views,
    sum(recent_views) AS recent_views,
    sum(view_squares) AS view_squares,
    max(clients) AS clients
FROM section_paths
INNER JOIN section_sums ON section_sums.section = section_paths.section
GROUP BY site, prefix, parent, depth, is_program
ORDER BY site, prefix
