-- section_clients: distinct clients over the window of those sections where no single day and
--   page shows that there are enough of them
-- inputs: section_sums, section_paths, page_sections, transits
-- parameters: enough
-- output: section_clients
-- grain: prefix
SELECT few.prefix AS prefix, count(DISTINCT transits.client) AS clients
FROM (
    SELECT prefix
    FROM section_paths
    INNER JOIN section_sums ON section_sums.section = section_paths.section
    GROUP BY prefix
    HAVING max(clients) < $enough
) AS few
INNER JOIN section_paths ON section_paths.prefix = few.prefix
INNER JOIN page_sections ON page_sections.section = section_paths.section
INNER JOIN transits ON transits.target = page_sections.url
GROUP BY few.prefix
ORDER BY prefix
