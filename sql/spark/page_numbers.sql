-- page_numbers: translated from sql/traffic/page_numbers.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_labels, page_totals
-- parameters: none
WITH sites AS (
  SELECT
    site,
    MIN(number) AS first,
    MAX(number) AS last
  FROM {page_totals} AS page_totals
  GROUP BY
    site
)
SELECT
  totals.number AS page,
  sites.first,
  sites.last,
  totals.site,
  totals.url,
  totals.total,
  totals.birth,
  CASE WHEN NOT labels.phi_n IS NULL THEN labels.is_temporal END AS is_temporal
FROM {page_totals} AS totals
INNER JOIN sites
  ON sites.site = totals.site
LEFT JOIN {page_labels} AS labels
  ON labels.url = totals.url
ORDER BY
  page NULLS LAST
