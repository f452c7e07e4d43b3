-- section_sums: what the pages of each section add up to, without those of sections beneath; pages of
--   the flow count whether they are reliable or not, all else is of reliable pages
-- inputs: page_sections, page_histories, page_flow, flow_sections, counted_sites
-- parameters: recent, first, days, seen_before, views_per_client
-- output: section_sums
-- grain: section
WITH parts AS (
    SELECT
        page_sections.site AS site,
        section,
        min(birth) AS first_seen,
        count(*) AS pages,
        sum(CASE WHEN is_temporal THEN 1 ELSE 0 END) AS temporal_pages,
        sum(CASE WHEN is_news THEN 1 ELSE 0 END) AS news_pages,
        -- A younger page has no curve, or no concentration above p whatever its views are.
        sum(CASE WHEN phi_n IS NOT NULL THEN 1 ELSE 0 END) AS curve_pages,
        sum(
            CASE
                WHEN
                    is_news
                    OR list_extract(seen_before, $days + 1) - list_extract(seen_before, born)
                    > (
                        list_extract(seen_before, least(born + CAST(m AS INTEGER), $days + 1))
                        - list_extract(seen_before, born)
                    ) * p
                    THEN 1
                ELSE 0
            END
        ) AS aged_pages,
        sum(CASE WHEN flow.temporal IS NULL THEN 0 ELSE 1 END) AS flow_pages,
        sum(coalesce(CAST(floor(1000 * flow.temporal + 0.5) AS BIGINT), 0)) AS flow_thousandths,
        sum(CASE WHEN flow.temporal IS NULL AND phi_n IS NOT NULL THEN 1 ELSE 0 END) AS old_pages,
        sum(
            CASE WHEN flow.temporal IS NULL AND phi_n IS NOT NULL AND is_temporal THEN 1 ELSE 0 END
        ) AS old_temporal_pages,
        sum(total) AS views,
        sum(CASE WHEN is_temporal THEN total ELSE 0 END) AS temporal_views,
        sum(recent_views) AS recent_views,
        -- Whole numbers: the order of the rows must not show in the last digit.
        sum(total * total) AS view_squares,
        -- On one day a page has as many clients as views; where views are counted without clients,
        -- so many of them vouch for one.
        CASE
            WHEN max(counted_sites.site) IS NULL THEN max(most_views)
            ELSE CAST(floor(CAST(max(most_views) AS DOUBLE) / $views_per_client) AS BIGINT)
        END AS clients
    FROM page_sections
    INNER JOIN (
        -- Here, or the views of all days go through the join.
        SELECT
            url,
            birth,
            CAST(date_diff('day', $first, birth) + 1 AS INTEGER) AS born,
            -- Of the window's days, how many are there before each, and in all.
            CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before,
            total,
            list_sum(list_slice(views, $days - $recent + 1, $days)) AS recent_views,
            list_max(views) AS most_views
        FROM page_histories
    ) AS histories ON histories.url = page_sections.url
    LEFT JOIN (SELECT url, temporal FROM page_flow) AS flow ON flow.url = page_sections.url
    LEFT JOIN counted_sites ON counted_sites.site = page_sections.site
    GROUP BY page_sections.site, section
    UNION ALL
    SELECT
        site,
        section,
        min(birth) AS first_seen,
        0 AS pages,
        0 AS temporal_pages,
        0 AS news_pages,
        0 AS curve_pages,
        0 AS aged_pages,
        count(*) AS flow_pages,
        sum(CAST(floor(1000 * temporal + 0.5) AS BIGINT)) AS flow_thousandths,
        0 AS old_pages,
        0 AS old_temporal_pages,
        0 AS views,
        0 AS temporal_views,
        0 AS recent_views,
        0 AS view_squares,
        -- Somebody opened them; how many did is counted where it matters (few_pages).
        1 AS clients
    FROM flow_sections
    GROUP BY site, section
)

SELECT
    site,
    section,
    min(first_seen) AS first_seen,
    sum(pages) AS pages,
    sum(temporal_pages) AS temporal_pages,
    sum(news_pages) AS news_pages,
    sum(curve_pages) AS curve_pages,
    sum(aged_pages) AS aged_pages,
    sum(flow_pages) AS flow_pages,
    sum(flow_thousandths) AS flow_thousandths,
    sum(old_pages) AS old_pages,
    sum(old_temporal_pages) AS old_temporal_pages,
    sum(views) AS views,
    sum(temporal_views) AS temporal_views,
    sum(recent_views) AS recent_views,
    sum(view_squares) AS view_squares,
    max(clients) AS clients
FROM parts
GROUP BY site, section
ORDER BY site, section
