-- link_pages: every URL that links lead from or to, numbered in the order of hosts and URLs; one that
--   nobody opened is external where nobody opened any page of its host
-- inputs: page_links, page_totals
-- parameters: site
-- output: link_pages
-- grain: url
-- Places within a host, and where the host begins: no order over all pages has to be found.
WITH ends AS (
    SELECT url, split_part(url, '/', 3) AS host
    FROM (SELECT referrer AS url FROM page_links UNION SELECT target AS url FROM page_links)
),

-- Answered while pages are read: most are no ends.
opened AS (
    SELECT url FROM page_totals WHERE url IN (SELECT url FROM ends)
),

-- Hosts of which a page was opened: those with such an end, and for the few that are left over all
-- pages of their sites are asked.
met AS (
    SELECT DISTINCT ends.host
    FROM ends
    INNER JOIN opened ON opened.url = ends.url
),

asked AS (
    SELECT DISTINCT regexp_extract(ends.url, $site, 1) AS site
    FROM ends
    LEFT JOIN met ON met.host = ends.host
    WHERE met.host IS NULL
),

known AS (
    SELECT host FROM met
    UNION
    SELECT split_part(url, '/', 3) AS host
    FROM page_totals
    WHERE site IN (SELECT site FROM asked)
),

hosts AS (
    SELECT host, sum(pages) OVER (ORDER BY host) - pages AS first
    FROM (SELECT host, count(*) AS pages FROM ends GROUP BY host)
)

SELECT
    hosts.first + row_number() OVER (PARTITION BY ends.host ORDER BY ends.url) - 1 AS page,
    ends.url,
    ends.host,
    opened.url IS NOT NULL AS is_opened,
    known.host IS NULL AS is_external
FROM ends
INNER JOIN hosts ON hosts.host = ends.host
LEFT JOIN opened ON opened.url = ends.url
LEFT JOIN known ON known.host = ends.host
ORDER BY page
