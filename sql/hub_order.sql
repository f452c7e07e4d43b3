-- hub_order: pages that may be hubs, in the order of the paper (NP 5.1): by the temporal pages they
--   link to; without those that too few clients know, and those that hardly anybody came to of late
-- inputs: hub_pages, link_visits
-- parameters: min_clients, drops_quiet, recent_days, observed_days, usual_visits, quiet_share
-- output: hub_order
-- grain: page
WITH visited AS (
    SELECT
        hubs.page,
        hubs.url,
        hubs.is_external,
        hubs.temporal_pages,
        visits.clients,
        visits.recent_visits,
        CAST(visits.visits * $recent_days AS DOUBLE) / $observed_days AS usual_visits
    FROM hub_pages AS hubs
    INNER JOIN link_visits AS visits ON visits.page = hubs.page
)

SELECT
    row_number() OVER (ORDER BY temporal_pages DESC, page) AS place,
    page,
    url,
    is_external,
    clients,
    temporal_pages
FROM visited
WHERE
    clients >= $min_clients
    AND NOT (
        $drops_quiet
        AND usual_visits >= $usual_visits
        AND recent_visits < $quiet_share * usual_visits
    )
ORDER BY place
