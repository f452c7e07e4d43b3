-- crawl_traffic: what users did with each page of some sites in some periods (BB 2): F_in, visits from
--   anywhere or nowhere, and F_out, visits to other pages that came from it; pages that nobody opened
--   are none, as in page_traffic and url_patterns
-- inputs: crawl_triples
-- parameters: first, second, third
-- output: crawl_traffic
-- grain: url
WITH triples AS (
    SELECT referrer, target, referrer_site, target_site
    FROM crawl_triples
    WHERE (in_first AND $first) OR (in_second AND $second) OR (in_third AND $third)
),

ends AS (
    SELECT target_site AS site, target AS url, count(*) AS visits, 0 AS referrals
    FROM triples
    WHERE target_site IS NOT NULL
    GROUP BY target_site, target
    UNION ALL
    SELECT referrer_site AS site, referrer AS url, 0 AS visits, count(*) AS referrals
    FROM triples
    WHERE referrer_site IS NOT NULL
    GROUP BY referrer_site, referrer
)

SELECT site, url, sum(visits) AS visits, sum(referrals) AS referrals
FROM ends
GROUP BY site, url
HAVING sum(visits) > 0
ORDER BY site, url
