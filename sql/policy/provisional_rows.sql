-- provisional_rows: the nodes of the pattern trees of sites with few labelled pages (or of all), and
--   behind those of each site its pages with some views, by day
-- inputs: page_totals, page_labels, page_views, page_traffic, url_patterns
-- parameters: first, days, least_views, enough_pages, is_short
-- output: provisional_rows
-- grain: site, node or url
WITH sites AS (
    SELECT page_totals.site AS site
    FROM page_totals
    LEFT JOIN page_labels
        ON page_labels.url = page_totals.url
        AND page_labels.label_basis <> 'none'
    GROUP BY page_totals.site
    HAVING $is_short OR count(page_labels.url) < $enough_pages
),

counted AS (
    SELECT url, list(date_diff('day', $first, day)) AS days, list(views) AS views
    FROM page_views
    WHERE url IN (
        SELECT url
        FROM page_totals
        WHERE total >= $least_views AND site IN (SELECT site FROM sites)
    )
    GROUP BY url
)

SELECT *
FROM (
    SELECT
        url_patterns.site,
        pattern,
        parent,
        rule,
        template,
        is_pattern,
        CAST(NULL AS VARCHAR) AS url,
        CAST(0 AS BIGINT) AS clients,
        CAST(NULL AS INTEGER[]) AS views
    FROM url_patterns
    WHERE status = 'learned' AND url_patterns.site IN (SELECT sites.site FROM sites)
    UNION ALL
    SELECT
        page_traffic.site,
        CAST(NULL AS BIGINT) AS pattern,
        CAST(NULL AS BIGINT) AS parent,
        CAST(NULL AS VARCHAR) AS rule,
        CAST(NULL AS VARCHAR) AS template,
        CAST(NULL AS BOOLEAN) AS is_pattern,
        page_traffic.url,
        page_traffic.clients,
        list_transform(
            range($days),
            lambda n: CAST(
                coalesce(list_extract(counted.views, list_position(counted.days, n)), 0) AS INTEGER
            )
        ) AS views
    FROM page_traffic
    INNER JOIN counted ON counted.url = page_traffic.url
    WHERE page_traffic.site IN (SELECT site FROM url_patterns WHERE status = 'learned')
) AS rows_of_sites
ORDER BY site, url NULLS FIRST, pattern
