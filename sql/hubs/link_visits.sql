-- link_visits: who came to each of some pages, or from it where it was not opened itself;
--   clients are those of one key of the pseudonyms: one whose key was changed counts anew with each
-- inputs: transits, candidates, key_days
-- parameters: counts_opened
-- output: link_visits
-- grain: page
WITH seen AS (
    SELECT candidates.page AS page, key_days.key AS key, transits.client AS client
    FROM transits
    INNER JOIN candidates ON candidates.url = transits.target
    INNER JOIN key_days ON key_days.day = transits.day
    WHERE candidates.is_opened AND $counts_opened
    UNION
    SELECT candidates.page AS page, key_days.key AS key, transits.client AS client
    FROM transits
    INNER JOIN candidates ON candidates.url = transits.referrer
    INNER JOIN key_days ON key_days.day = transits.day
    WHERE NOT candidates.is_opened
)

SELECT page, max(clients) AS clients
FROM (SELECT page, key, count(*) AS clients FROM seen GROUP BY page, key)
GROUP BY page
ORDER BY page
