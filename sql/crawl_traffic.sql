-- crawl_traffic: what users did with each page (BB 2): F_in, visits from anywhere or nowhere, and
--   F_out, visits to other pages that came from it; a (target, referrer, client) counts once,
--   on however many days it occurs
-- inputs: transits
-- parameters: none
-- output: crawl_traffic
-- grain: url
WITH triples AS (
    SELECT DISTINCT referrer, target, client
    FROM transits
),

visited AS (
    SELECT target AS url, count(*) AS visits
    FROM triples
    GROUP BY target
),

left_from AS (
    SELECT referrer AS url, count(*) AS referrals
    FROM triples
    WHERE referrer IS NOT NULL
    GROUP BY referrer
)

SELECT
    coalesce(visited.url, left_from.url) AS url,
    coalesce(visited.visits, 0) AS visits,
    coalesce(left_from.referrals, 0) AS referrals
FROM visited
FULL OUTER JOIN left_from ON left_from.url = visited.url
ORDER BY url
