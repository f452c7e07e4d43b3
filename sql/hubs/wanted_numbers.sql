-- wanted_numbers: wanted pages that links lead to, by number
-- inputs: wanted_pages, link_pages
-- parameters: none
-- output: wanted_numbers
-- grain: page
SELECT
    pages.page,
    wanted.worth,
    wanted.is_temporal,
    wanted.born,
    wanted.views,
    wanted.one_day,
    wanted.two_days,
    wanted.three_days,
    wanted.all_days
FROM wanted_pages AS wanted
INNER JOIN link_pages AS pages ON pages.url = wanted.url
ORDER BY page
