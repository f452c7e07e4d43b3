-- crawl_traffic: what users did with each page of some sites (BB 2): F_in, visits from anywhere or
--   nowhere, and F_out, visits to other pages that came from it; a (target, referrer, client)
--   counts once, on however many days it occurs
-- inputs: transits, crawled_sites
-- parameters: site
-- output: crawl_traffic
-- grain: url
-- Few sites are asked for: what leads neither to one nor from one is not compared with anything.
WITH triples AS (
    SELECT DISTINCT
        transits.referrer,
        transits.target,
        transits.client,
        sources.site AS referrer_site,
        targets.site AS target_site
    FROM transits
    LEFT JOIN crawled_sites AS sources
        ON sources.site = regexp_extract(transits.referrer, $site, 1)
    LEFT JOIN crawled_sites AS targets
        ON targets.site = regexp_extract(transits.target, $site, 1)
    WHERE sources.site IS NOT NULL OR targets.site IS NOT NULL
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
ORDER BY site, url
