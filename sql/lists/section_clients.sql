-- section_clients: how many different clients at least opened pages of those sections where no single
--   day and page shows that there are enough of them
-- inputs: tree_sums, page_totals, page_traffic
-- parameters: none
-- output: section_clients
-- grain: prefix
-- Each once: what is asked twice would be joined twice, and both tables have all pages.
WITH numbered AS MATERIALIZED (
    SELECT few.prefix AS prefix, totals.number AS page
    FROM (SELECT prefix, unnest(few_pages) AS url FROM tree_sums) AS few
    INNER JOIN page_totals AS totals ON totals.url = few.url
),

known AS MATERIALIZED (
    SELECT numbered.prefix AS prefix, traffic.clients, traffic.few_clients
    FROM numbered
    INNER JOIN page_traffic AS traffic ON traffic.url = numbered.page
)

SELECT
    alone.prefix AS prefix,
    greatest(alone.clients, coalesce(together.clients, 0)) AS clients
FROM (
    SELECT prefix, max(clients) AS clients FROM known GROUP BY prefix
) AS alone
LEFT JOIN (
    SELECT prefix, count(DISTINCT client) AS clients
    FROM (SELECT prefix, unnest(few_clients) AS client FROM known) AS members
    GROUP BY prefix
) AS together ON together.prefix = alone.prefix
ORDER BY prefix
