-- link_pages: every URL that links lead from or to, numbered in the order of hosts and URLs; `number` is
--   that of a page of the window, and NULL for a URL that nobody opened
-- inputs: page_links, page_totals
-- parameters: none
-- output: link_pages
-- grain: url
-- Places within a host, and where the host begins: no order over all pages has to be found.
WITH ends AS (
    SELECT url, split_part(url, '/', 3) AS host
    FROM (SELECT referrer AS url FROM page_links UNION SELECT target AS url FROM page_links)
),

-- Answered while pages are read: most are no ends.
opened AS (
    SELECT url, number FROM page_totals WHERE url IN (SELECT url FROM ends)
),

hosts AS (
    SELECT host, sum(pages) OVER (ORDER BY host) - pages AS first
    FROM (SELECT host, count(*) AS pages FROM ends GROUP BY host)
)

SELECT
    hosts.first + row_number() OVER (PARTITION BY ends.host ORDER BY ends.url) - 1 AS page,
    ends.url,
    ends.host,
    opened.number
FROM ends
INNER JOIN hosts ON hosts.host = ends.host
LEFT JOIN opened ON opened.url = ends.url
ORDER BY page
