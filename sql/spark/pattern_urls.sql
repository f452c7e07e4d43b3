-- pattern_urls: translated from sql/patterns/pattern_urls.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_flow, url_patterns
-- parameters: none
SELECT
  site,
  pattern,
  parent,
  rule,
  is_pattern,
  url,
  temporal
FROM (
  SELECT
    url_patterns.site,
    0 AS kind,
    pattern,
    parent,
    rule,
    is_pattern,
    CAST(NULL AS STRING) AS url,
    CAST(NULL AS DOUBLE) AS temporal
  FROM {url_patterns} AS url_patterns
  WHERE
    status = 'learned'
    AND url_patterns.site IN (
      SELECT
        page_flow.site
      FROM {page_flow} AS page_flow
    )
  UNION ALL
  SELECT
    page_flow.site,
    1 AS kind,
    CAST(NULL AS BIGINT) AS pattern,
    CAST(NULL AS BIGINT) AS parent,
    CAST(NULL AS STRING) AS rule,
    CAST(NULL AS BOOLEAN) AS is_pattern,
    url,
    temporal
  FROM {page_flow} AS page_flow
  WHERE
    page_flow.site IN (
      SELECT
        url_patterns.site
      FROM {url_patterns} AS url_patterns
      WHERE
        status = 'learned'
    )
) AS rows_of_sites
ORDER BY
  site NULLS LAST,
  kind NULLS LAST,
  pattern NULLS LAST,
  url NULLS LAST
