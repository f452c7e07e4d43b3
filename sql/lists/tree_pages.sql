-- tree_pages: the pages that section trees add up, those of a site together: reliable pages, and pages of
--   the flow that are not reliable, of which only the flow counts
-- inputs: page_labels, page_histories, page_flow, counted_sites
-- parameters: recent, days, views_per_client
-- output: tree_pages
-- grain: url
WITH lives AS (
    -- Here, or the views of all days go through the join.
    SELECT
        url,
        birth,
        total,
        list_sum(list_slice(views, $days - $recent + 1, $days)) AS recent_views,
        list_max(views) AS most_views
    FROM page_histories
)

SELECT
    labels.site,
    labels.url,
    lives.birth,
    TRUE AS is_reliable,
    labels.is_temporal,
    labels.is_news,
    labels.phi_n IS NOT NULL AS has_curve,
    CAST(labels.m AS BIGINT) AS m,
    labels.p,
    CAST(floor(1000 * flow.temporal + 0.5) AS BIGINT) AS flow_thousandths,
    lives.total AS views,
    lives.recent_views,
    -- On one day a page has as many clients as views; where views are counted without clients,
    -- so many of them vouch for one.
    CASE
        WHEN counted_sites.site IS NULL THEN lives.most_views
        ELSE CAST(floor(CAST(lives.most_views AS DOUBLE) / $views_per_client) AS BIGINT)
    END AS clients
FROM page_labels AS labels
INNER JOIN lives ON lives.url = labels.url
LEFT JOIN page_flow AS flow ON flow.url = labels.url
LEFT JOIN counted_sites ON counted_sites.site = labels.site
UNION ALL
SELECT
    site,
    url,
    birth,
    FALSE AS is_reliable,
    FALSE AS is_temporal,
    FALSE AS is_news,
    FALSE AS has_curve,
    1 AS m,
    0.0 AS p,
    CAST(floor(1000 * temporal + 0.5) AS BIGINT) AS flow_thousandths,
    0 AS views,
    0 AS recent_views,
    -- Somebody opened it; how many did is counted where it matters (section_clients).
    1 AS clients
FROM page_flow
WHERE NOT is_reliable
ORDER BY site, url
