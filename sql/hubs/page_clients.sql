-- page_clients: how many people opened each of some pages, where the pseudonyms have one key: what
--   `page_traffic` has counted already
-- inputs: candidates, page_totals, page_traffic
-- parameters: none
-- output: page_clients
-- grain: page
WITH numbered AS MATERIALIZED (
    SELECT candidates.page, totals.number
    FROM candidates
    INNER JOIN page_totals AS totals ON totals.url = candidates.url
)

SELECT numbered.page AS page, traffic.clients AS clients
FROM numbered
INNER JOIN page_traffic AS traffic ON traffic.url = numbered.number
ORDER BY page
