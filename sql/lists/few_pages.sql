-- few_pages: the pages of those sections where no single day and page shows that there are enough
--   clients
-- inputs: tree_sums, section_paths, page_sections, flow_sections
-- parameters: enough
-- output: few_pages
-- grain: prefix, url
SELECT tree_sums.prefix AS prefix, pages.url AS url
FROM tree_sums
INNER JOIN section_paths ON section_paths.prefix = tree_sums.prefix
INNER JOIN (
    SELECT section, url FROM page_sections
    UNION ALL
    SELECT section, url FROM flow_sections
) AS pages ON pages.section = section_paths.section
WHERE tree_sums.clients < $enough
ORDER BY prefix, url
