-- page_traffic: how people came to some pages of the window and where they went from them (BB 2):
--   F_in, F_out and F_trans over distinct (referrer, target, client) of the window; links name
--   pages of the same site by their place among its URLs, counted from 0
-- inputs: page_numbers, page_transits, page_referrals
-- parameters: day, new_from, observed_days, chance, least_clients, first_page, last_page
-- output: page_traffic
-- grain: url
WITH pages AS (
    SELECT *
    FROM page_numbers
    WHERE page BETWEEN $first_page AND $last_page
),
triples AS (
    SELECT *
    FROM page_transits
    WHERE target BETWEEN $first_page AND $last_page
),
edges AS (
    SELECT
        referrer,
        target,
        count(*) AS transits,
        count(CASE WHEN referrer IS NOT NULL OR stranger IS NOT NULL THEN 1 END) AS referred
    FROM triples
    GROUP BY referrer, target
),
openers AS (
    SELECT DISTINCT target AS page, client
    FROM triples
),
audience AS (
    SELECT page, count(*) AS clients
    FROM openers
    GROUP BY page
),
few AS (
    SELECT openers.page, list_sort(list(openers.client)) AS clients
    FROM openers
    INNER JOIN audience ON audience.page = openers.page
    WHERE audience.clients < $least_clients
    GROUP BY openers.page
),
arrivals AS (
    SELECT
        edges.target AS page,
        sum(edges.transits) AS visits,
        sum(edges.referred) AS referred,
        list_sort(list(struct_pack(
            page := CAST(edges.referrer - pages.first AS INTEGER),
            transits := edges.transits
        )) FILTER (WHERE edges.referrer BETWEEN pages.first AND pages.last)) AS links
    FROM edges
    INNER JOIN pages ON pages.page = edges.target
    GROUP BY edges.target
),
departures AS (
    SELECT page, referrals
    FROM page_referrals
    WHERE page BETWEEN $first_page AND $last_page
)
SELECT
    $day AS day,
    pages.site,
    pages.page AS url,
    coalesce(arrivals.visits, 0) AS visits,
    coalesce(arrivals.referred, 0) AS referred,
    coalesce(departures.referrals, 0) AS referrals,
    coalesce(audience.clients, 0) AS clients,
    coalesce(few.clients, []) AS few_clients,
    coalesce(arrivals.links, []) AS links,
    pages.total AS views,
    pages.birth,
    -- A page that was opened at a steady rate would have all its views in the days since its birth by
    -- this chance: pages of the long tail that were there before do, new ones do not.
    pages.birth >= $new_from AND power(
        CAST(date_diff('day', pages.birth, $day) + 1 AS DOUBLE) / $observed_days, pages.total
    ) < $chance AS is_new,
    pages.is_temporal
FROM pages
LEFT JOIN arrivals ON arrivals.page = pages.page
LEFT JOIN departures ON departures.page = pages.page
LEFT JOIN audience ON audience.page = pages.page
LEFT JOIN few ON few.page = pages.page
ORDER BY pages.page
