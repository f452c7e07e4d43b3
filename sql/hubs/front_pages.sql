-- front_pages: of sites without a hub, the front pages that somebody opened
-- inputs: lonely_sites, page_totals
-- parameters: none
-- output: front_pages
-- grain: url
SELECT
    row_number() OVER (ORDER BY pages.url) - 1 AS page,
    pages.url
FROM page_totals AS pages
INNER JOIN lonely_sites AS sites ON sites.site = pages.site
WHERE
    pages.url = 'https://' || sites.site || '/'
    OR pages.url = 'http://' || sites.site || '/'
ORDER BY page
