-- link_visits: who came to each of some pages;
--   clients are those of one key of the pseudonyms: one whose key was changed counts anew with each
-- inputs: transits, urls, candidates, key_days
-- parameters: none
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
)

SELECT page, max(clients) AS clients
FROM (SELECT page, key, count(*) AS clients FROM seen GROUP BY page, key)
GROUP BY page
ORDER BY page
