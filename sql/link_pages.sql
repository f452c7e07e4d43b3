-- link_pages: every URL that links lead from or to, numbered in its order; one that nobody opened
--   is external where nobody opened any page of its host
-- inputs: page_links, page_totals
-- parameters: none
-- output: link_pages
-- grain: url
WITH ends AS (
    SELECT referrer AS url FROM page_links
    UNION
    SELECT target AS url FROM page_links
)

SELECT
    row_number() OVER (ORDER BY ends.url) - 1 AS page,
    ends.url,
    split_part(ends.url, '/', 3) AS host,
    opened.url IS NOT NULL AS is_opened,
    known.host IS NULL AS is_external
FROM ends
LEFT JOIN page_totals AS opened ON opened.url = ends.url
LEFT JOIN (
    SELECT DISTINCT split_part(url, '/', 3) AS host FROM page_totals
) AS known ON known.host = split_part(ends.url, '/', 3)
ORDER BY ends.url
