-- hub_order: the first hubs by what they will lead to, by the temporal pages they link to (NP 5.1),
--   and the best hub of each site (its entrance); without those that too few clients know
-- inputs: hub_facts, link_visits
-- parameters: min_clients, most_hubs, site
-- output: hub_order
-- grain: page
WITH known AS (
    SELECT facts.*, visits.clients
    FROM hub_facts AS facts
    INNER JOIN link_visits AS visits ON visits.page = facts.page
    WHERE visits.clients >= $min_clients
),

placed AS (
    SELECT
        *,
        row_number() OVER (ORDER BY evidence DESC, temporal_pages DESC, page) AS place,
        row_number() OVER (ORDER BY temporal_pages DESC, page) AS paper_place,
        row_number() OVER (
            PARTITION BY regexp_extract(url, $site, 1)
            ORDER BY evidence DESC, temporal_pages DESC, page
        ) = 1 AS is_entrance
    FROM known
)

SELECT
    page,
    url,
    clients,
    evidence,
    temporal_pages,
    wanted_pages,
    views,
    one_day,
    three_days,
    all_days,
    shown,
    missed,
    place,
    paper_place,
    is_entrance
FROM placed
WHERE place <= $most_hubs OR paper_place <= $most_hubs OR is_entrance
ORDER BY place
