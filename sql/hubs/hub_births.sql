-- hub_births: how many new temporal pages (in millionths) each hub came to lead to on each day, of one
--   hub in so many: a link counts on the day on which somebody first followed it
-- inputs: link_numbers, link_pages, wanted_numbers
-- parameters: one_in
-- output: hub_births
-- grain: page, day
SELECT
    links.source AS page,
    links.first_day AS day,
    CAST(sum(wanted.worth) AS BIGINT) AS new
FROM link_numbers AS links
INNER JOIN wanted_numbers AS wanted ON wanted.page = links.target
INNER JOIN link_pages AS pages ON pages.page = links.source
WHERE pages.number IS NOT NULL AND wanted.born >= 0 AND links.source % $one_in = 0
GROUP BY links.source, links.first_day
ORDER BY links.source, links.first_day
