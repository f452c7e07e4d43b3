-- named_pages: numbers of the URLs of lists, in the order of the lists
-- inputs: named, link_pages
-- parameters: none
-- output: named_pages
-- grain: list, place
SELECT named.list, named.place, pages.page
FROM named
INNER JOIN link_pages AS pages ON pages.url = named.url
ORDER BY named.list, named.place
