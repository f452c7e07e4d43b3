-- mirror_pages: the distinct canonical URLs by site and URL; a page's number is its place
-- inputs: canonical_ends
-- parameters: none
-- output: mirror_pages
-- grain: url
SELECT DISTINCT site, url
FROM canonical_ends
WHERE url IS NOT NULL
ORDER BY site, url
