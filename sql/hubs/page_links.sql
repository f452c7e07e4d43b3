-- page_links: the links that matter (NP 4.2: some transit leads there): those to pages that are
--   wanted, and all that lead from seeds, whose second hop may be wanted; with the first and the last
--   day on which somebody followed them
-- inputs: transits, urls, counts, wanted, seeds
-- parameters: none
-- output: page_links
-- grain: referrer, target
-- A number of a day and the day are one integer: a join by days alone would be all pairs of URLs.
WITH known AS (
    SELECT
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + number AS id,
        url
    FROM urls
),

steps AS (
    SELECT
        day,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + target AS target_id
    FROM transits
    WHERE referrer IS NOT NULL
    UNION ALL
    SELECT
        day,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + url AS target_id
    FROM counts
    WHERE referrer <> url AND transits > 0
),

followed AS (
    SELECT DISTINCT day, source_id, target_id
    FROM steps
    WHERE
        target_id IN (SELECT id FROM known WHERE url IN (SELECT url FROM wanted))
        OR source_id IN (SELECT id FROM known WHERE url IN (SELECT url FROM seeds))
)

SELECT
    sources.url AS referrer,
    targets.url AS target,
    min(followed.day) AS first_day,
    max(followed.day) AS last_day
FROM followed
INNER JOIN known AS sources ON sources.id = followed.source_id
INNER JOIN known AS targets ON targets.id = followed.target_id
GROUP BY sources.url, targets.url
ORDER BY referrer, target
