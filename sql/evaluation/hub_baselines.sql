-- hub_baselines: two orders of hubs that anybody can write down: by the clicks out of each page on the
--   last day, and by the distinct newly born pages it leads to, of which each counts half as much a day
--   earlier (in millionths); of pages that somebody opened: search engines lead to all, and are no hubs
-- inputs: transits, urls, counts, page_totals
-- parameters: last_day, born_after, most
-- output: hub_baselines
-- grain: list, url
-- A number of a day and the day are one integer: a join by days alone would be all pairs of URLs.
WITH known AS (
    SELECT date_diff('day', DATE '1970-01-01', day) * 4294967296 + number AS id, url
    FROM urls
),

followed AS (
    SELECT
        day,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + target AS target_id,
        count(*) AS clicks
    FROM transits
    WHERE referrer IS NOT NULL
    GROUP BY day, referrer, target
    UNION ALL
    SELECT
        day,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + url AS target_id,
        transits AS clicks
    FROM counts
    WHERE referrer <> url AND transits > 0
),

all_links AS (
    SELECT
        sources.url AS referrer,
        targets.url AS target,
        min(followed.day) AS first_day,
        sum(CASE WHEN followed.day = $last_day THEN followed.clicks ELSE 0 END) AS clicks
    FROM followed
    INNER JOIN known AS sources ON sources.id = followed.source_id
    INNER JOIN known AS targets ON targets.id = followed.target_id
    GROUP BY sources.url, targets.url
),

links AS (
    SELECT all_links.*
    FROM all_links
    INNER JOIN page_totals AS opened ON opened.url = all_links.referrer
),

worths AS (
    SELECT 'clicks' AS list, referrer AS url, CAST(sum(clicks) AS BIGINT) AS worth
    FROM links
    WHERE clicks > 0
    GROUP BY referrer
    UNION ALL
    SELECT
        'recent' AS list,
        links.referrer AS url,
        CAST(
            sum(
                CAST(
                    round(1000000 * pow(0.5, date_diff('day', links.first_day, $last_day)))
                    AS BIGINT
                )
            ) AS BIGINT
        ) AS worth
    FROM links
    INNER JOIN page_totals AS pages ON pages.url = links.target
    WHERE pages.birth > $born_after AND pages.birth <= $last_day
    GROUP BY links.referrer
),

placed AS (
    SELECT list, url, row_number() OVER (PARTITION BY list ORDER BY worth DESC, url) AS place
    FROM worths
)

SELECT list, url, place
FROM placed
WHERE place <= $most
ORDER BY list, place
