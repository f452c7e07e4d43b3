-- crawl_triples: who went where (BB 2) from pages of some sites or to one: a (referrer, target, client)
--   counts once, on however many days it occurs, and once in each of the periods
-- inputs: transits, urls, crawled_sites
-- parameters: second_from, third_from
-- output: crawl_triples
-- grain: referrer, target, client
-- Few sites are asked for: what leads neither to one nor from one is not compared with anything.
-- A number of a day and the day are one integer: a join by days alone would be all pairs of URLs.
WITH known AS (
    SELECT
        date_diff('day', DATE '1970-01-01', urls.day) * 4294967296 + urls.number AS id,
        urls.url,
        crawled_sites.site
    FROM urls
    LEFT JOIN crawled_sites ON crawled_sites.site = urls.site
),

steps AS (
    SELECT
        day,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + target AS target_id,
        client
    FROM transits
)

SELECT
    sources.url AS referrer,
    targets.url AS target,
    steps.client,
    sources.site AS referrer_site,
    targets.site AS target_site,
    min(steps.day) < $second_from AS in_first,
    count(
        CASE WHEN steps.day >= $second_from AND steps.day < $third_from THEN 1 END
    ) > 0 AS in_second,
    max(steps.day) >= $third_from AS in_third
FROM steps
INNER JOIN known AS targets ON targets.id = steps.target_id
LEFT JOIN known AS sources ON sources.id = steps.source_id
WHERE sources.site IS NOT NULL OR targets.site IS NOT NULL
GROUP BY sources.url, targets.url, steps.client, sources.site, targets.site
