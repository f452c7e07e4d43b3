-- page_links: the links that matter (NP 4.2: some transit leads there): those to pages that are
--   wanted, and all that lead from seeds, whose second hop may be wanted; with the first and the last
--   day on which somebody followed them
-- inputs: transits, wanted, seeds
-- parameters: none
-- output: page_links
-- grain: referrer, target
SELECT
    referrer,
    target,
    min(day) AS first_day,
    max(day) AS last_day
FROM transits
WHERE
    referrer IS NOT NULL
    AND (
        target IN (SELECT url FROM wanted)
        OR referrer IN (SELECT url FROM seeds)
    )
GROUP BY referrer, target
ORDER BY referrer, target
