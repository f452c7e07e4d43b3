-- hub_pages: pages with links to temporal ones; those that nobody opened are left out but for
--   external ones, where these are wanted: a page of a known host was moved, or is none
-- inputs: link_numbers, link_pages
-- parameters: keeps_external
-- output: hub_pages
-- grain: page
SELECT
    pages.page,
    pages.url,
    pages.host,
    pages.is_opened,
    pages.is_external,
    array_length(links.targets) AS temporal_pages
FROM link_numbers AS links
INNER JOIN link_pages AS pages ON pages.page = links.source
WHERE pages.is_opened OR (pages.is_external AND $keeps_external)
ORDER BY pages.page
