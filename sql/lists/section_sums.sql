-- section_sums: what the pages of each section add up to, without those of sections beneath
-- inputs: page_sections, page_histories, page_flow
-- parameters: recent, first, days, seen_before
-- output: section_sums
-- grain: section
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
    -- On one day a page has as many clients as views.
    max(most_views) AS clients
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
GROUP BY page_sections.site, section
ORDER BY page_sections.site, section
