-- provisional_rows: the nodes of the pattern trees of sites with few labelled pages (or of all), and
--   behind those of each site its pages with some views, by day
-- inputs: page_totals, page_labels, page_views, page_traffic, url_patterns
-- parameters: first, days, least_views, enough_pages, is_short
-- output: provisional_rows
-- grain: site, node or url
WITH labelled AS (
    SELECT site, count(*) AS pages
    FROM page_labels
    WHERE label_basis <> 'none'
    GROUP BY site
),

sites AS (
    SELECT seen.site AS site
    FROM (SELECT DISTINCT site FROM page_totals) AS seen
    LEFT JOIN labelled ON labelled.site = seen.site
    WHERE $is_short OR coalesce(labelled.pages, 0) < $enough_pages
),

counted AS (
    SELECT url, list(date_diff('day', $first, day)) AS days, list(views) AS views
    FROM page_views
    WHERE site IN (SELECT site FROM sites) AND url IN (
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
        page_totals.url,
        page_traffic.clients,
        list_transform(
            range($days),
            lambda n: CAST(
                coalesce(list_extract(counted.views, list_position(counted.days, n)), 0) AS INTEGER
            )
        ) AS views
    FROM page_traffic
    INNER JOIN page_totals ON page_totals.number = page_traffic.url
    INNER JOIN counted ON counted.url = page_totals.url
    WHERE page_traffic.site IN (SELECT site FROM url_patterns WHERE status = 'learned')
) AS rows_of_sites
ORDER BY site, url NULLS FIRST, pattern
