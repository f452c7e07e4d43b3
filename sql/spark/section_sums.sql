-- section_sums: translated from sql/lists/section_sums.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counted_sites, flow_sections, page_flow, page_histories, page_sections
-- parameters: days, first, recent, seen_before, views_per_client
WITH parts AS (
  SELECT
    page_sections.site AS site,
    section,
    MIN(birth) AS first_seen,
    COUNT(*) AS pages,
    SUM(CASE WHEN is_temporal THEN 1 ELSE 0 END) AS temporal_pages,
    SUM(CASE WHEN is_news THEN 1 ELSE 0 END) AS news_pages,
    SUM(CASE WHEN NOT phi_n IS NULL THEN 1 ELSE 0 END) AS curve_pages,
    SUM(
      CASE
        WHEN is_news
        OR GET(seen_before, (
          :days + 1
        ) - 1) - GET(seen_before, born - 1) > (
          GET(seen_before, (
            LEAST(born + CAST(m AS INT), :days + 1)
          ) - 1) - GET(seen_before, born - 1)
        ) * p
        THEN 1
        ELSE 0
      END
    ) AS aged_pages,
    SUM(CASE WHEN flow.temporal IS NULL THEN 0 ELSE 1 END) AS flow_pages,
    SUM(COALESCE(CAST(FLOOR(1000 * flow.temporal + 0.5) AS BIGINT), 0)) AS flow_thousandths,
    SUM(CASE WHEN flow.temporal IS NULL AND NOT phi_n IS NULL THEN 1 ELSE 0 END) AS old_pages,
    SUM(
      CASE
        WHEN flow.temporal IS NULL AND NOT phi_n IS NULL AND is_temporal
        THEN 1
        ELSE 0
      END
    ) AS old_temporal_pages,
    SUM(total) AS views,
    SUM(CASE WHEN is_temporal THEN total ELSE 0 END) AS temporal_views,
    SUM(recent_views) AS recent_views,
    SUM(total * total) AS view_squares,
    CASE
      WHEN MAX(counted_sites.site) IS NULL
      THEN MAX(most_views)
      ELSE CAST(FLOOR(CAST(MAX(most_views) AS DOUBLE) / :views_per_client) AS BIGINT)
    END AS clients
  FROM {page_sections} AS page_sections
  INNER JOIN (
    SELECT
      url,
      birth,
      CAST(DATEDIFF(DAY, :first, birth) + 1 AS INT) AS born,
      CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before,
      total,
      AGGREGATE(
        SLICE(views, :days - :recent + 1, GREATEST(:days - (
          :days - :recent + 1
        ) + 1, 0)),
        CAST(NULL AS BIGINT),
        (s, v) -> COALESCE(s, 0) + v
      ) AS recent_views,
      ARRAY_MAX(views) AS most_views
    FROM {page_histories} AS page_histories
  ) AS histories
    ON histories.url = page_sections.url
  LEFT JOIN (
    SELECT
      url,
      temporal
    FROM {page_flow} AS page_flow
  ) AS flow
    ON flow.url = page_sections.url
  LEFT JOIN {counted_sites} AS counted_sites
    ON counted_sites.site = page_sections.site
  GROUP BY
    page_sections.site,
    section
  UNION ALL
  SELECT
    site,
    section,
    MIN(birth) AS first_seen,
    0 AS pages,
    0 AS temporal_pages,
    0 AS news_pages,
    0 AS curve_pages,
    0 AS aged_pages,
    COUNT(*) AS flow_pages,
    SUM(CAST(FLOOR(1000 * temporal + 0.5) AS BIGINT)) AS flow_thousandths,
    0 AS old_pages,
    0 AS old_temporal_pages,
    0 AS views,
    0 AS temporal_views,
    0 AS recent_views,
    0 AS view_squares,
    1 AS clients
  FROM {flow_sections} AS flow_sections
  GROUP BY
    site,
    section
)
SELECT
  site,
  section,
  MIN(first_seen) AS first_seen,
  SUM(pages) AS pages,
  SUM(temporal_pages) AS temporal_pages,
  SUM(news_pages) AS news_pages,
  SUM(curve_pages) AS curve_pages,
  SUM(aged_pages) AS aged_pages,
  SUM(flow_pages) AS flow_pages,
  SUM(flow_thousandths) AS flow_thousandths,
  SUM(old_pages) AS old_pages,
  SUM(old_temporal_pages) AS old_temporal_pages,
  SUM(views) AS views,
  SUM(temporal_views) AS temporal_views,
  SUM(recent_views) AS recent_views,
  SUM(view_squares) AS view_squares,
  MAX(clients) AS clients
FROM parts
GROUP BY
  site,
  section
ORDER BY
  site NULLS LAST,
  section NULLS LAST
