-- provisional_rows: translated from sql/policy/provisional_rows.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_labels, page_totals, page_traffic, page_views, url_patterns
-- parameters: days, enough_pages, first, is_short, least_views
WITH labelled AS (
  SELECT
    site,
    COUNT(*) AS pages
  FROM {page_labels} AS page_labels
  WHERE
    label_basis <> 'none'
  GROUP BY
    site
), sites AS (
  SELECT
    seen.site AS site
  FROM (
    SELECT DISTINCT
      site
    FROM {page_totals} AS page_totals
  ) AS seen
  LEFT JOIN labelled
    ON labelled.site = seen.site
  WHERE
    :is_short OR COALESCE(labelled.pages, 0) < :enough_pages
), counted AS (
  SELECT
    url,
    COLLECT_LIST(DATEDIFF(DAY, :first, day)) AS days,
    COLLECT_LIST(views) AS views
  FROM {page_views} AS page_views
  WHERE
    site IN (
      SELECT
        site
      FROM sites
    )
    AND url IN (
      SELECT
        url
      FROM {page_totals} AS page_totals
      WHERE
        total >= :least_views AND site IN (
          SELECT
            site
          FROM sites
        )
    )
  GROUP BY
    url
)
SELECT
  *
FROM (
  SELECT
    url_patterns.site,
    pattern,
    parent,
    rule,
    template,
    is_pattern,
    CAST(NULL AS STRING) AS url,
    CAST(0 AS BIGINT) AS clients,
    CAST(NULL AS ARRAY<INT>) AS views
  FROM {url_patterns} AS url_patterns
  WHERE
    status = 'learned'
    AND url_patterns.site IN (
      SELECT
        sites.site
      FROM sites
    )
  UNION ALL
  SELECT
    page_traffic.site,
    CAST(NULL AS BIGINT) AS pattern,
    CAST(NULL AS BIGINT) AS parent,
    CAST(NULL AS STRING) AS rule,
    CAST(NULL AS STRING) AS template,
    CAST(NULL AS BOOLEAN) AS is_pattern,
    page_totals.url,
    page_traffic.clients,
    TRANSFORM(
      SLICE(SEQUENCE(0, :days), 1, :days - 0),
      n -> CAST(COALESCE(GET(counted.views, ARRAY_POSITION(counted.days, n) - 1), 0) AS INT)
    ) AS views
  FROM {page_traffic} AS page_traffic
  INNER JOIN {page_totals} AS page_totals
    ON page_totals.number = page_traffic.url
  INNER JOIN counted
    ON counted.url = page_totals.url
  WHERE
    page_traffic.site IN (
      SELECT
        site
      FROM {url_patterns} AS url_patterns
      WHERE
        status = 'learned'
    )
) AS rows_of_sites
ORDER BY
  site NULLS LAST,
  url,
  pattern NULLS LAST
