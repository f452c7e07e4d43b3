-- changed_traffic: what people did on the pages of a window that something has changed of: as
--   page_traffic, without links
-- inputs: changed_pages, moved_transits
-- parameters: least_clients
-- output: changed_traffic
-- grain: page
WITH openers AS (
    SELECT
        target AS page,
        client,
        max(is_now) AS is_here,
        max(was_visit) AS was_here,
        sum(is_now - was_visit) AS visits,
        sum(CASE WHEN is_referred THEN is_now - was_visit END) AS referred
    FROM moved_transits
    WHERE target IS NOT NULL
    GROUP BY target, client
),

arrivals AS (
    SELECT
        page,
        sum(visits) AS visits,
        sum(referred) AS referred,
        sum(is_here - was_here) AS clients
    FROM openers
    GROUP BY page
),

departures AS (
    SELECT referrer AS page, sum(is_now - was_referral) AS referrals
    FROM moved_transits
    WHERE referrer IS NOT NULL
    GROUP BY referrer
),

counted AS (
    SELECT
        pages.page,
        pages.visits + coalesce(arrivals.visits, 0) AS visits,
        pages.referred + coalesce(arrivals.referred, 0) AS referred,
        pages.referrals + coalesce(departures.referrals, 0) AS referrals,
        pages.clients + coalesce(arrivals.clients, 0) AS clients
    FROM changed_pages AS pages
    LEFT JOIN arrivals ON arrivals.page = pages.page
    LEFT JOIN departures ON departures.page = pages.page
),

-- Those who came, and those of before of whom nothing is known but that they were there.
members AS (
    SELECT openers.page, openers.client
    FROM openers
    WHERE openers.is_here = 1
    UNION ALL
    SELECT before.page, before.client
    FROM (SELECT page, unnest(few_clients) AS client FROM changed_pages) AS before
    LEFT JOIN openers ON openers.page = before.page AND openers.client = before.client
    WHERE openers.client IS NULL
),

few AS (
    SELECT members.page, list_sort(list(members.client)) AS clients
    FROM members
    INNER JOIN counted ON counted.page = members.page
    WHERE counted.clients < $least_clients
    GROUP BY members.page
)

SELECT
    counted.page,
    counted.visits,
    counted.referred,
    counted.referrals,
    counted.clients,
    coalesce(few.clients, []) AS few_clients
FROM counted
LEFT JOIN few ON few.page = counted.page
ORDER BY counted.page
