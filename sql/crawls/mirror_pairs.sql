-- mirror_pairs: links by the numbers of their pages, as often as they are given; rows without a page
--   at either end are left out
-- inputs: mirror_edges, mirror_numbers
-- parameters: none
-- output: mirror_pairs
-- grain: a row of mirror_edges
SELECT sources.page AS source, targets.page AS target, edges.nofollow
FROM mirror_edges AS edges
INNER JOIN mirror_numbers AS sources ON sources.written = edges.source
INNER JOIN mirror_numbers AS targets ON targets.written = edges.target
