-- page_traffic: how people came to every page of the window and where they went from it (BB 2):
--   F_in, F_out and F_trans over distinct (referrer, target, client) of the window; links name
--   pages of the same site by their place among its URLs, counted from 0
-- inputs: transits, page_totals, page_labels
-- parameters: day, new_from, least_clients
-- output: page_traffic
-- grain: url
WITH triples AS (
    SELECT DISTINCT referrer, target, client
    FROM transits
),
edges AS (
    SELECT referrer, target, count(*) AS transits
    FROM triples
    GROUP BY referrer, target
),
openers AS (
    SELECT DISTINCT target AS url, client
    FROM triples
),
audience AS (
    SELECT url, count(*) AS clients
    FROM openers
    GROUP BY url
),
few AS (
    SELECT openers.url, list_sort(list(openers.client)) AS clients
    FROM openers
    INNER JOIN audience ON audience.url = openers.url
    WHERE audience.clients < $least_clients
    GROUP BY openers.url
),
arrivals AS (
    SELECT
        target AS url,
        sum(transits) AS visits,
        sum(CASE WHEN referrer IS NULL THEN 0 ELSE transits END) AS referred
    FROM edges
    GROUP BY target
),
departures AS (
    SELECT referrer AS url, sum(transits) AS referrals
    FROM edges
    WHERE referrer IS NOT NULL
    GROUP BY referrer
),
pages AS (
    SELECT site, url, total, birth, row_number() OVER (PARTITION BY site ORDER BY url) - 1 AS place
    FROM page_totals
),
links AS (
    SELECT
        edges.target AS url,
        list_sort(list(struct_pack(
            page := CAST(sources.place AS INTEGER),
            transits := edges.transits
        ))) AS links
    FROM edges
    INNER JOIN pages AS targets ON targets.url = edges.target
    INNER JOIN pages AS sources ON sources.url = edges.referrer AND sources.site = targets.site
    GROUP BY edges.target
)
SELECT
    $day AS day,
    pages.site,
    pages.url,
    coalesce(arrivals.visits, 0) AS visits,
    coalesce(arrivals.referred, 0) AS referred,
    coalesce(departures.referrals, 0) AS referrals,
    coalesce(audience.clients, 0) AS clients,
    coalesce(few.clients, []) AS few_clients,
    coalesce(links.links, []) AS links,
    pages.total AS views,
    pages.birth >= $new_from AS is_new,
    CASE WHEN labels.phi_n IS NOT NULL THEN labels.is_temporal END AS is_temporal
FROM pages
LEFT JOIN arrivals ON arrivals.url = pages.url
LEFT JOIN departures ON departures.url = pages.url
LEFT JOIN audience ON audience.url = pages.url
LEFT JOIN few ON few.url = pages.url
LEFT JOIN links ON links.url = pages.url
LEFT JOIN page_labels AS labels ON labels.url = pages.url
ORDER BY pages.site, pages.url
