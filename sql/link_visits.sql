-- link_visits: who came to each of some pages, or from it where it was not opened itself;
--   clients are those of one key of the pseudonyms: one whose key was changed counts anew with each
-- inputs: transits, candidates
-- parameters: rotation_days, counts_opened
-- output: link_visits
-- grain: page
WITH seen AS (
    SELECT candidates.page AS page, transits.day AS day, transits.client AS client
    FROM transits
    INNER JOIN candidates ON candidates.url = transits.target
    WHERE candidates.is_opened AND $counts_opened
    UNION
    SELECT candidates.page AS page, transits.day AS day, transits.client AS client
    FROM transits
    INNER JOIN candidates ON candidates.url = transits.referrer
    WHERE NOT candidates.is_opened
)

SELECT page, max(clients) AS clients
FROM (
    SELECT page, period, count(DISTINCT client) AS clients
    FROM (
        SELECT
            page,
            client,
            CAST(floor(date_diff('day', DATE '1970-01-01', day) / $rotation_days) AS BIGINT)
                AS period
        FROM seen
    )
    GROUP BY page, period
)
GROUP BY page
ORDER BY page
