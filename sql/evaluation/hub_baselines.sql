-- hub_baselines: two orders of hubs that anybody can write down: by the clicks out of each page on the
--   last day, and by the distinct newly born pages it leads to, of which each counts half as much a day
--   earlier (in millionths)
-- inputs: transits, page_totals
-- parameters: last_day, born_after, most
-- output: hub_baselines
-- grain: list, url
WITH links AS (
    SELECT referrer, target, min(day) AS first_day
    FROM transits
    WHERE referrer IS NOT NULL
    GROUP BY referrer, target
),

worths AS (
    SELECT 'clicks' AS list, referrer AS url, count(*) AS worth
    FROM transits
    WHERE referrer IS NOT NULL AND day = $last_day
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
