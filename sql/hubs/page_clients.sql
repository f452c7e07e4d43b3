-- page_clients: how many people opened each of some pages, where the pseudonyms have one key: what
--   `page_traffic` has counted already
-- inputs: candidates, page_traffic
-- parameters: none
-- output: page_clients
-- grain: page
SELECT candidates.page AS page, traffic.clients AS clients
FROM candidates
INNER JOIN page_traffic AS traffic ON traffic.url = candidates.number
ORDER BY page
