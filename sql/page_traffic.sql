-- page_traffic: how people came to every page of the window and where they went from it (BB 2):
--   F_in, F_out and F_trans over distinct (referrer, target, client) of the window; links name
--   pages of the same site by their place among its URLs, counted from 0
-- inputs: transits, page_totals, page_labels
-- parameters: day, new_from, observed_days, chance, least_clients
-- output: page_traffic
-- grain: url
-- Pages have numbers in the order of sites and URLs, so that those of a site are a range: whether
-- two pages are of one site is then no join, which could pair all pages of a site with each other.
WITH numbered AS (
    SELECT site, url, total, birth, row_number() OVER (ORDER BY site, url) - 1 AS page
    FROM page_totals
),
sites AS (
    SELECT site, min(page) AS first, max(page) AS last
    FROM numbered
    GROUP BY site
),
triples AS (
    SELECT DISTINCT
        sources.page AS referrer,
        -- Referrers that are no pages are told apart, and no more is asked of them.
        CASE WHEN sources.page IS NULL THEN transits.referrer END AS stranger,
        targets.page AS target,
        transits.client
    FROM transits
    INNER JOIN numbered AS targets ON targets.url = transits.target
    LEFT JOIN numbered AS sources ON sources.url = transits.referrer
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
pages AS (
    SELECT numbered.page, sites.first, sites.last
    FROM numbered
    INNER JOIN sites ON sites.site = numbered.site
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
    SELECT referrer AS page, sum(transits) AS referrals
    FROM edges
    WHERE referrer IS NOT NULL
    GROUP BY referrer
)
SELECT
    $day AS day,
    numbered.site,
    numbered.url,
    coalesce(arrivals.visits, 0) AS visits,
    coalesce(arrivals.referred, 0) AS referred,
    coalesce(departures.referrals, 0) AS referrals,
    coalesce(audience.clients, 0) AS clients,
    coalesce(few.clients, []) AS few_clients,
    coalesce(arrivals.links, []) AS links,
    numbered.total AS views,
    -- A page that was opened at a steady rate would have all its views in the days since its birth by
    -- this chance: pages of the long tail that were there before do, new ones do not.
    numbered.birth >= $new_from AND power(
        CAST(date_diff('day', numbered.birth, $day) + 1 AS DOUBLE) / $observed_days, numbered.total
    ) < $chance AS is_new,
    CASE WHEN labels.phi_n IS NOT NULL THEN labels.is_temporal END AS is_temporal
FROM numbered
LEFT JOIN arrivals ON arrivals.page = numbered.page
LEFT JOIN departures ON departures.page = numbered.page
LEFT JOIN audience ON audience.page = numbered.page
LEFT JOIN few ON few.page = numbered.page
LEFT JOIN page_labels AS labels ON labels.url = numbered.url
ORDER BY numbered.page
