-- crawl_triples: who went where (BB 2) from pages of some sites or to one: a (referrer, target, client)
--   counts once, on however many days it occurs, and once in each of the two periods
-- inputs: transits, crawled_sites
-- parameters: site, since
-- output: crawl_triples
-- grain: referrer, target, client
-- Few sites are asked for: what leads neither to one nor from one is not compared with anything.
SELECT
    transits.referrer,
    transits.target,
    transits.client,
    sources.site AS referrer_site,
    targets.site AS target_site,
    min(transits.day) < $since AS is_before,
    max(transits.day) >= $since AS is_since
FROM transits
LEFT JOIN crawled_sites AS sources
    ON sources.site = regexp_extract(transits.referrer, $site, 1)
LEFT JOIN crawled_sites AS targets
    ON targets.site = regexp_extract(transits.target, $site, 1)
WHERE sources.site IS NOT NULL OR targets.site IS NOT NULL
GROUP BY transits.referrer, transits.target, transits.client, sources.site, targets.site
