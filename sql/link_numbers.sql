-- link_numbers: the pages that each page links to, by number
-- inputs: page_links, link_pages
-- parameters: none
-- output: link_numbers
-- grain: source
SELECT
    sources.page AS source,
    list_sort(list(CAST(targets.page AS INTEGER))) AS targets
FROM page_links
INNER JOIN link_pages AS sources ON sources.url = page_links.referrer
INNER JOIN link_pages AS targets ON targets.url = page_links.target
GROUP BY sources.page
ORDER BY source
