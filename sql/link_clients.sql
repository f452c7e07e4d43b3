-- link_clients: how many clients opened a page with links, or came from one that is not in the
--   logs; while one key of the pseudonyms was in use, where that is several
-- inputs: link_steps, link_pages
-- parameters: none
-- output: link_clients
-- grain: page
SELECT page, max(clients) AS clients
FROM (
    SELECT page, count(DISTINCT client) AS clients
    FROM (
        SELECT target AS page, period, client
        FROM link_steps
        WHERE target IN (SELECT source FROM link_steps)
        UNION ALL
        SELECT source AS page, period, client
        FROM link_steps
        WHERE source IN (SELECT page FROM link_pages WHERE NOT is_opened)
    )
    GROUP BY page, period
)
GROUP BY page
ORDER BY page
