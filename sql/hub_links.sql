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
    SELECT hubs.place, hubs.page, hubs.temporal_pages, bounds.bound
    FROM hub_order AS hubs
    INNER JOIN bounds ON bounds.page = hubs.page
    WHERE bounds.bound > 0 AND hubs.page NOT IN (SELECT page FROM taken_hubs)
),

-- Every hub has a link: no more of them can be wanted, and these are put into one order.
best AS (
    SELECT * FROM remaining ORDER BY bound DESC, place LIMIT $most_links
),

placed AS (
    SELECT
        *,
        sum(temporal_pages) OVER (
            ORDER BY bound DESC, place ROWS UNBOUNDED PRECEDING
        ) - temporal_pages AS links_before
    FROM best
)

SELECT
    placed.page,
    placed.place,
    placed.bound,
    links.targets,
    (SELECT count(*) FROM remaining) AS hubs_left
FROM placed
INNER JOIN link_numbers AS links ON links.source = placed.page
WHERE placed.links_before < $most_links
ORDER BY placed.bound DESC, placed.place
