-- hub_links: of the hubs that were not taken yet, those that add most now, with the pages they lead
--   to: as many as have most_links links in all, or a few more; how many are left at all
-- inputs: hub_order, link_numbers, taken_hubs, covered_pages
-- parameters: most_links, whole
-- output: hub_links
-- grain: page
WITH bounds AS (
    SELECT links.page, sum(coalesce(covered.worth, $whole)) AS bound
    FROM (SELECT source AS page, unnest(targets) AS target FROM link_numbers) AS links
    LEFT JOIN covered_pages AS covered ON covered.page = links.target
    GROUP BY links.page
),

remaining AS (
    SELECT
        hubs.place,
        hubs.page,
        bounds.bound,
        count(*) OVER () AS hubs_left,
        sum(hubs.temporal_pages) OVER (
            ORDER BY bounds.bound DESC, hubs.place ROWS UNBOUNDED PRECEDING
        ) - hubs.temporal_pages AS links_before
    FROM hub_order AS hubs
    INNER JOIN bounds ON bounds.page = hubs.page
    WHERE bounds.bound > 0 AND hubs.page NOT IN (SELECT page FROM taken_hubs)
)

SELECT
    remaining.page,
    remaining.place,
    remaining.bound,
    links.targets,
    remaining.hubs_left
FROM remaining
INNER JOIN link_numbers AS links ON links.source = remaining.page
WHERE remaining.links_before < $most_links
ORDER BY remaining.bound DESC, remaining.place
