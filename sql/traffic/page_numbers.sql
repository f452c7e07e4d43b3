-- page_numbers: the pages of the window, numbered in the order of sites and URLs, so that those of a
--   site are a range: whether two pages are of one site is then no join
-- inputs: page_totals, page_labels
-- parameters: none
-- output: page_numbers
-- grain: url
-- Places within a site, and where the site begins: no order over all pages has to be found.
WITH sizes AS (
    SELECT site, count(*) AS pages
    FROM page_totals
    GROUP BY site
),
sites AS (
    SELECT
        site,
        sum(pages) OVER (ORDER BY site) - pages AS first,
        sum(pages) OVER (ORDER BY site) - 1 AS last
    FROM sizes
)
SELECT
    sites.first + row_number() OVER (PARTITION BY totals.site ORDER BY totals.url) - 1 AS page,
    sites.first,
    sites.last,
    totals.site,
    totals.url,
    totals.total,
    totals.birth,
    CASE WHEN labels.phi_n IS NOT NULL THEN labels.is_temporal END AS is_temporal
FROM page_totals AS totals
INNER JOIN sites ON sites.site = totals.site
LEFT JOIN page_labels AS labels ON labels.url = totals.url
ORDER BY page
