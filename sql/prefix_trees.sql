-- prefix_trees: every folder and program with the counts of all pages beneath it (NP 5.2), and how
--   many different clients at least opened them
-- inputs: tree_sums, few_pages, page_traffic
-- parameters: day
-- output: prefix_trees
-- grain: prefix
WITH known AS (
    SELECT few_pages.prefix AS prefix, traffic.clients, traffic.few_clients
    FROM few_pages
    INNER JOIN page_traffic AS traffic ON traffic.url = few_pages.url
),

alone AS (
    SELECT prefix, max(clients) AS clients FROM known GROUP BY prefix
),

together AS (
    SELECT prefix, count(DISTINCT client) AS clients
    FROM (SELECT prefix, unnest(few_clients) AS client FROM known) AS members
    GROUP BY prefix
)

SELECT
    $day AS day,
    site,
    sums.prefix AS prefix,
    parent,
    depth,
    is_program,
    first_seen,
    own_pages,
    pages,
    temporal_pages,
    news_pages,
    curve_pages,
    aged_pages,
    views,
    temporal_views,
    recent_views,
    view_squares,
    greatest(sums.clients, coalesce(alone.clients, 0), coalesce(together.clients, 0)) AS clients
FROM tree_sums AS sums
LEFT JOIN alone ON alone.prefix = sums.prefix
LEFT JOIN together ON together.prefix = sums.prefix
ORDER BY site, sums.prefix
