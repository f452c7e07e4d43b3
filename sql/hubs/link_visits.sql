-- link_visits: who came to each of some pages;
--   clients are those of one key of the pseudonyms: one whose key was changed counts anew with each.
--   Where no clients are known, so many views of a day vouch for one
-- inputs: transits, urls, counts, candidates, key_days
-- parameters: views_per_client
-- output: link_visits
-- grain: page
WITH known AS (
    SELECT urls.day, urls.number, candidates.page, key_days.key
    FROM urls
    INNER JOIN candidates ON candidates.url = urls.url
    INNER JOIN key_days ON key_days.day = urls.day
),

seen AS (
    SELECT DISTINCT known.page, known.key, transits.client
    FROM transits
    INNER JOIN known ON known.day = transits.day AND known.number = transits.target
),

counted AS (
    SELECT known.page, counts.day, counts.clients, coalesce(counts.views, counts.transits) AS views
    FROM counts
    INNER JOIN known ON known.day = counts.day AND known.number = counts.url
)

SELECT page, max(clients) AS clients
FROM (
    SELECT page, count(*) AS clients FROM seen GROUP BY page, key
    UNION ALL
    SELECT
        page,
        greatest(
            coalesce(max(clients), 0),
            CAST(
                floor(
                    CAST(coalesce(sum(CASE WHEN clients IS NULL THEN views END), 0) AS DOUBLE)
                    / $views_per_client
                ) AS BIGINT
            )
        ) AS clients
    FROM counted
    GROUP BY page, day
) AS known_clients
GROUP BY page
ORDER BY page
