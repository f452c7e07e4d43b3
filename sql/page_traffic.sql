-- page_traffic: how people came to every page of the window and where they went from it (BB 2):
--   F_in, F_out and F_trans over distinct (referrer, target, client) of the window; links name
--   pages of the same site by their place among its URLs, counted from 0
-- inputs: transits, page_totals, page_labels
-- parameters: day, new_from, observed_days, chance, least_clients
-- output: page_traffic
-- grain: url
-- Pages have numbers in the order of sites and URLs, so that those of a site are a range: whether
-- two pages are of one site is then no join, which could pair all pages of a site with each other.
WITH pages AS (
    SELECT
        site,
        url,
        total,
        birth,
        row_number() OVER (ORDER BY site, url) - 1 AS page,
        rank() OVER (ORDER BY site) - 1 AS first,
        count(*) OVER (PARTITION BY site) AS size
    FROM page_totals
),
ends AS (
    SELECT url, page
    FROM pages
    UNION ALL
    SELECT url, -row_number() OVER (ORDER BY url) AS page
    FROM (SELECT DISTINCT referrer AS url FROM transits WHERE referrer IS NOT NULL) AS referrers
    WHERE url NOT IN (SELECT url FROM page_totals)
),
triples AS (
    SELECT DISTINCT sources.page AS referrer, targets.page AS target, transits.client
    FROM transits
    INNER JOIN pages AS targets ON targets.url = transits.target
    LEFT JOIN ends AS sources ON sources.url = transits.referrer
),
edges AS (
    SELECT referrer, target, count(*) AS transits
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
        target AS page,
        sum(transits) AS visits,
        sum(CASE WHEN referrer IS NULL THEN 0 ELSE transits END) AS referred
    FROM edges
    GROUP BY target
),
departures AS (
    SELECT referrer AS page, sum(transits) AS referrals
    FROM edges
    WHERE referrer >= 0
    GROUP BY referrer
),
links AS (
    SELECT
        edges.target AS page,
        list_sort(list(struct_pack(
            page := CAST(edges.referrer - pages.first AS INTEGER),
            transits := edges.transits
        ))) AS links
    FROM edges
    INNER JOIN pages ON pages.page = edges.target
    WHERE edges.referrer >= pages.first AND edges.referrer < pages.first + pages.size
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
    -- A page that was opened at a steady rate would have all its views in the days since its birth by
    -- this chance: pages of the long tail that were there before do, new ones do not.
    pages.birth >= $new_from AND power(
        CAST(date_diff('day', pages.birth, $day) + 1 AS DOUBLE) / $observed_days, pages.total
    ) < $chance AS is_new,
    CASE WHEN labels.phi_n IS NOT NULL THEN labels.is_temporal END AS is_temporal
FROM pages
LEFT JOIN arrivals ON arrivals.page = pages.page
LEFT JOIN departures ON departures.page = pages.page
LEFT JOIN audience ON audience.page = pages.page
LEFT JOIN few ON few.page = pages.page
LEFT JOIN links ON links.page = pages.page
LEFT JOIN page_labels AS labels ON labels.url = pages.url
ORDER BY pages.page
