-- crawl_triples: who went where (BB 2) from pages of some sites or to one: a (referrer, target, client)
--   counts once, on however many days it occurs, and once in each of the periods
-- inputs: transits, crawled_sites
-- parameters: site, second_from, third_from
-- output: crawl_triples
-- grain: referrer, target, client
-- Few sites are asked for: what leads neither to one nor from one is not compared with anything.
SELECT
    transits.referrer,
    transits.target,
    transits.client,
    sources.site AS referrer_site,
    targets.site AS target_site,
    min(transits.day) < $second_from AS in_first,
    count(
        CASE WHEN transits.day >= $second_from AND transits.day < $third_from THEN 1 END
    ) > 0 AS in_second,
    max(transits.day) >= $third_from AS in_third
FROM transits
LEFT JOIN crawled_sites AS sources
    ON sources.site = regexp_extract(transits.referrer, $site, 1)
LEFT JOIN crawled_sites AS targets
    ON targets.site = regexp_extract(transits.target, $site, 1)
WHERE sources.site IS NOT NULL OR targets.site IS NOT NULL
GROUP BY transits.referrer, transits.target, transits.client, sources.site, targets.site
