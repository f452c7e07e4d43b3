-- page_transits: distinct (referrer, target, client) of the window between pages, by their
--   numbers: URLs are compared here and nowhere after
-- inputs: transits, page_numbers
-- parameters: none
-- output: page_transits
-- grain: referrer, target, client
-- In the order of targets, so that what is made of some pages reads their part of the file.
SELECT DISTINCT
    sources.page AS referrer,
    -- Referrers that are no pages are told apart, and no more is asked of them. A second hash is of
    -- the same text four letters on: DuckDB takes eight at a time, and what differs at the end of
    -- one eight may be undone by the end of the next. One hash was the same for 7 of 100 URLs with a
    -- date and a number; no two of them share both.
    CASE
        WHEN sources.page IS NULL AND transits.referrer IS NOT NULL
            THEN CAST(hash(transits.referrer, 'four' || transits.referrer) >> 1 AS BIGINT)
    END AS stranger,
    targets.page AS target,
    transits.client
FROM transits
INNER JOIN page_numbers AS targets ON targets.url = transits.target
LEFT JOIN page_numbers AS sources ON sources.url = transits.referrer
ORDER BY target
