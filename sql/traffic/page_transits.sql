-- page_transits: distinct (referrer, target, client) of the window between pages, by their numbers:
--   URLs of days are compared with pages here and nowhere after
-- inputs: transits, urls, page_numbers
-- parameters: none
-- output: page_transits
-- grain: referrer, target, client
-- A number of a day and the day are one integer: a join by days alone would be all pairs of URLs.
WITH known AS (
    SELECT
        date_diff('day', DATE '1970-01-01', urls.day) * 4294967296 + urls.number AS id,
        page_numbers.page,
        -- URLs that are no pages are told apart, and no more is asked of them. A second hash is of
        -- the same text four letters on: DuckDB takes eight at a time, and what differs at the end
        -- of one eight may be undone by the end of the next. One hash was the same for 7 of 100
        -- URLs with a date and a number; no two of them share both.
        CASE
            WHEN page_numbers.page IS NULL
                THEN CAST(hash(urls.url, 'four' || urls.url) >> 1 AS BIGINT)
        END AS stranger
    FROM urls
    LEFT JOIN page_numbers ON page_numbers.url = urls.url
),

steps AS (
    SELECT
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + referrer AS source_id,
        date_diff('day', DATE '1970-01-01', day) * 4294967296 + target AS target_id,
        client
    FROM transits
)

-- In the order of targets, so that what is made of some pages reads their part of the file.
SELECT DISTINCT
    sources.page AS referrer,
    sources.stranger,
    targets.page AS target,
    steps.client
FROM steps
INNER JOIN known AS targets ON targets.id = steps.target_id
LEFT JOIN known AS sources ON sources.id = steps.source_id
WHERE targets.page IS NOT NULL
ORDER BY target
