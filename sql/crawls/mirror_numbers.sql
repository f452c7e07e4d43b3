-- mirror_numbers: the page that each written URL is
-- inputs: canonical_ends, mirror_pages
-- parameters: none
-- output: mirror_numbers
-- grain: written
WITH pages AS (
    SELECT url, row_number() OVER (ORDER BY site, url) - 1 AS page
    FROM mirror_pages
)

SELECT ends.written, pages.page
FROM canonical_ends AS ends
INNER JOIN pages ON pages.url = ends.url
