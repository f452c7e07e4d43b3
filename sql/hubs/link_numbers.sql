-- link_numbers: links by number, with the days of the window between which they were followed
-- inputs: page_links, link_pages
-- parameters: first
-- output: link_numbers
-- grain: source, target
SELECT
    sources.page AS source,
    targets.page AS target,
    date_diff('day', $first, page_links.first_day) AS first_day,
    date_diff('day', $first, page_links.last_day) AS last_day
FROM page_links
INNER JOIN link_pages AS sources ON sources.url = page_links.referrer
INNER JOIN link_pages AS targets ON targets.url = page_links.target
ORDER BY source, target
