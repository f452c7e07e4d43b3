-- counted_traffic: page_traffic with what sources count that name no client: each counted view is a visit
--   (nobody knows who comes again), links are those that a source counts, and a day's visitors or, where
--   these are not counted, so many of its views vouch for one client
-- inputs: page_traffic, page_totals, counts, urls
-- parameters: views_per_client
-- output: page_traffic
-- grain: url
-- A number of a day and the day are one integer: a join by days alone would be all pairs of URLs.
WITH places AS (
    SELECT site, url, number AS page, number - min(number) OVER (PARTITION BY site) AS place
    FROM page_totals
),

known AS (
    SELECT
        date_diff('day', DATE '1970-01-01', urls.day) * 4294967296 + urls.number AS id,
        places.site,
        places.page,
        places.place
    FROM urls
    INNER JOIN places ON places.url = urls.url
),

counted AS (
    SELECT
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + url AS target_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        views,
        clients,
        -- A reload is no transit.
        CASE WHEN referrer IS NULL OR referrer <> url THEN transits END AS transits
    FROM counts
),

days AS (
    SELECT
        target_id,
        sum(views) AS views,
        sum(transits) AS transits,
        sum(CASE WHEN source_id IS NOT NULL THEN transits END) AS referred,
        max(clients) AS clients,
        sum(CASE WHEN clients IS NULL THEN coalesce(views, transits) END) AS without_clients
    FROM counted
    GROUP BY target_id
),

arrivals AS (
    SELECT
        known.page,
        greatest(coalesce(sum(days.views), 0), coalesce(sum(days.transits), 0)) AS visits,
        coalesce(sum(days.referred), 0) AS referred,
        max(
            greatest(
                coalesce(days.clients, 0),
                CAST(
                    floor(CAST(coalesce(days.without_clients, 0) AS DOUBLE) / $views_per_client)
                    AS BIGINT
                )
            )
        ) AS clients
    FROM days
    INNER JOIN known ON known.id = days.target_id
    GROUP BY known.page
),

departures AS (
    SELECT known.page, sum(counted.transits) AS referrals
    FROM counted
    INNER JOIN known ON known.id = counted.source_id
    GROUP BY known.page
),

counted_links AS (
    SELECT targets.page AS target, sources.place AS place, edges.transits AS transits
    FROM (
        SELECT source_id, target_id, sum(transits) AS transits
        FROM counted
        WHERE source_id IS NOT NULL AND transits > 0
        GROUP BY source_id, target_id
    ) AS edges
    INNER JOIN known AS sources ON sources.id = edges.source_id
    INNER JOIN known AS targets ON targets.id = edges.target_id AND targets.site = sources.site
),

links AS (
    SELECT
        target,
        list_sort(list(struct_pack(
            page := CAST(place AS INTEGER), transits := CAST(transits AS BIGINT)
        ))) AS links
    FROM (
        SELECT target, place, sum(transits) AS transits
        FROM (
            SELECT target, place, transits FROM counted_links
            UNION ALL
            SELECT target, link.page AS place, link.transits AS transits
            FROM (
                SELECT url AS target, unnest(links) AS link
                FROM page_traffic
                WHERE url IN (SELECT counted_links.target FROM counted_links)
            ) AS of_clients
        ) AS every_link
        GROUP BY target, place
    ) AS sums
    GROUP BY target
)

SELECT
    traffic.day,
    traffic.site,
    traffic.url,
    traffic.visits + coalesce(arrivals.visits, 0) AS visits,
    traffic.referred + coalesce(arrivals.referred, 0) AS referred,
    traffic.referrals + coalesce(departures.referrals, 0) AS referrals,
    greatest(traffic.clients, coalesce(arrivals.clients, 0)) AS clients,
    CASE
        WHEN coalesce(arrivals.clients, 0) <= traffic.clients THEN traffic.few_clients
        ELSE []
    END AS few_clients,
    coalesce(links.links, traffic.links) AS links,
    traffic.views,
    traffic.birth,
    traffic.is_new,
    traffic.is_temporal
FROM page_traffic AS traffic
LEFT JOIN arrivals ON arrivals.page = traffic.url
LEFT JOIN departures ON departures.page = traffic.url
LEFT JOIN links ON links.target = traffic.url
ORDER BY traffic.url
