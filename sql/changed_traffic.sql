-- changed_traffic: what people did on the pages of a window that something has changed of: as
--   page_traffic, without links
-- inputs: changed_pages, moved_transits
-- parameters: least_clients
-- output: changed_traffic
-- grain: page
WITH arrivals AS (
    SELECT
        pages.page,
        sum(is_now - CASE WHEN is_new THEN 0 ELSE was_then END) AS visits,
        sum(CASE WHEN is_referred THEN is_now - CASE WHEN is_new THEN 0 ELSE was_then END END)
            AS referred
    FROM moved_transits
    INNER JOIN changed_pages AS pages ON pages.page = moved_transits.target
    GROUP BY pages.page
),

departures AS (
    SELECT
        pages.page,
        sum(is_now - CASE WHEN is_new THEN 0 ELSE was_then END) AS referrals
    FROM moved_transits
    INNER JOIN changed_pages AS pages ON pages.page = moved_transits.referrer
    GROUP BY pages.page
),

openers AS (
    SELECT
        pages.page,
        client,
        max(is_now) AS is_now,
        max(CASE WHEN is_new THEN 0 ELSE was_then END) AS was_then
    FROM moved_transits
    INNER JOIN changed_pages AS pages ON pages.page = moved_transits.target
    GROUP BY pages.page, client
),

audience AS (
    SELECT
        pages.page,
        max(pages.clients) + coalesce(sum(is_now - was_then), 0) AS clients
    FROM changed_pages AS pages
    LEFT JOIN openers ON openers.page = pages.page
    GROUP BY pages.page
),

-- Those who came, and those of before of whom nothing is known but that they were there.
members AS (
    SELECT openers.page, openers.client
    FROM openers
    INNER JOIN audience ON audience.page = openers.page
    WHERE openers.is_now = 1 AND audience.clients < $least_clients
    UNION ALL
    SELECT before.page, before.client
    FROM (SELECT page, unnest(few_clients) AS client FROM changed_pages) AS before
    LEFT JOIN openers ON openers.page = before.page AND openers.client = before.client
    WHERE openers.client IS NULL
),

few AS (
    SELECT members.page, list_sort(list(members.client)) AS clients
    FROM members
    INNER JOIN audience ON audience.page = members.page
    WHERE audience.clients < $least_clients
    GROUP BY members.page
)

SELECT
    pages.page,
    pages.visits + coalesce(arrivals.visits, 0) AS visits,
    pages.referred + coalesce(arrivals.referred, 0) AS referred,
    pages.referrals + coalesce(departures.referrals, 0) AS referrals,
    audience.clients AS clients,
    coalesce(few.clients, []) AS few_clients
FROM changed_pages AS pages
INNER JOIN audience ON audience.page = pages.page
LEFT JOIN arrivals ON arrivals.page = pages.page
LEFT JOIN departures ON departures.page = pages.page
LEFT JOIN few ON few.page = pages.page
ORDER BY pages.page
