-- page_links: the distinct pages that each page links to (NP 4.2: some transit leads there)
-- inputs: link_steps
-- parameters: none
-- output: page_links
-- grain: source
SELECT source, list_sort(list(target)) AS targets
FROM (
    SELECT DISTINCT source, CAST(target AS INTEGER) AS target
    FROM link_steps
    WHERE source IS NOT NULL
)
GROUP BY source
ORDER BY source
