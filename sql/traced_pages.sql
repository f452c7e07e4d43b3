-- traced_pages: pages of which more must be known than what changed: those that are new in a window,
--   from which people may have gone on before they were opened, and those that so many clients leave
--   that the clients who stay may be few
-- inputs: page_totals, earlier, leaving
-- parameters: earlier_day, least_clients
-- output: traced_pages
-- grain: url
SELECT url, TRUE AS is_new
FROM page_totals
WHERE birth > $earlier_day
UNION ALL
SELECT earlier.url, FALSE AS is_new
FROM earlier
INNER JOIN (
    -- As many clients at most: a few pages too many do no harm.
    SELECT target, count(*) AS clients
    FROM leaving
    GROUP BY target
) AS gone ON gone.target = earlier.url
WHERE earlier.clients >= $least_clients AND earlier.clients - gone.clients < $least_clients
