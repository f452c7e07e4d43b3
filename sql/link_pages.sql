-- link_pages: every URL that a transit of the window leads from or to, numbered in its order;
--   one that nobody opened is external where nobody opened any page of its host
-- inputs: transits
-- parameters: none
-- output: link_pages
-- grain: url
WITH ends AS (
    SELECT url, max(opened) = 1 AS is_opened
    FROM (
        SELECT target AS url, 1 AS opened FROM transits
        UNION ALL
        SELECT referrer AS url, 0 AS opened FROM transits WHERE referrer IS NOT NULL
    )
    GROUP BY url
)

SELECT
    row_number() OVER (ORDER BY ends.url) - 1 AS page,
    ends.url,
    split_part(ends.url, '/', 3) AS host,
    ends.is_opened,
    known.host IS NULL AS is_external
FROM ends
LEFT JOIN (
    SELECT DISTINCT split_part(url, '/', 3) AS host FROM ends WHERE is_opened
) AS known ON known.host = split_part(ends.url, '/', 3)
ORDER BY ends.url
