-- page_numbers: the pages of the window with their labels and the range of numbers of their site, so that
--   whether two pages are of one site is no join
-- inputs: page_totals, page_labels
-- parameters: none
-- output: page_numbers
-- grain: url
WITH sites AS (
    SELECT site, min(number) AS first, max(number) AS last
    FROM page_totals
    GROUP BY site
)
SELECT
    totals.number AS page,
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
