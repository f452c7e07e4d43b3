-- section_clients: how many different clients at least opened pages of those sections where no single
--   day and page shows that there are enough of them
-- inputs: section_sums, section_paths, page_sections, page_traffic
-- parameters: enough
-- output: section_clients
-- grain: prefix
WITH pages AS (
    SELECT few.prefix AS prefix, traffic.clients, traffic.few_clients
    FROM (
        SELECT prefix
        FROM section_paths
        INNER JOIN section_sums ON section_sums.section = section_paths.section
        GROUP BY prefix
        HAVING max(clients) < $enough
    ) AS few
    INNER JOIN section_paths ON section_paths.prefix = few.prefix
    INNER JOIN page_sections ON page_sections.section = section_paths.section
    INNER JOIN page_traffic AS traffic ON traffic.url = page_sections.url
)

SELECT
    alone.prefix AS prefix,
    greatest(alone.clients, coalesce(together.clients, 0)) AS clients
FROM (
    SELECT prefix, max(clients) AS clients FROM pages GROUP BY prefix
) AS alone
LEFT JOIN (
    SELECT prefix, count(DISTINCT client) AS clients
    FROM (SELECT prefix, unnest(few_clients) AS client FROM pages) AS members
    GROUP BY prefix
) AS together ON together.prefix = alone.prefix
ORDER BY prefix
