-- young_sums: translated from sql/lists/young_sums.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: early_labels, page_histories, page_labels
-- parameters: knows_all, young_days
WITH born AS (
  SELECT
    AVG(CASE WHEN is_temporal THEN 1 ELSE 0 END) AS share
  FROM {page_labels} AS page_labels
  INNER JOIN {page_histories} AS page_histories
    ON page_histories.url = page_labels.url
  WHERE
    NOT phi_n IS NULL AND NOT is_born_before AND NOT :knows_all
), young AS (
  SELECT
    page_labels.site AS host,
    early_labels.total AS total,
    CAST(ROUND(1000 * COALESCE(probability, share, 0)) AS BIGINT) AS thousandths
  FROM {page_labels} AS page_labels
  INNER JOIN {early_labels} AS early_labels
    ON early_labels.url = page_labels.url
  CROSS JOIN born
  WHERE
    phi_n IS NULL AND age < :young_days
)
SELECT
  host,
  COUNT(*) AS young_pages,
  CAST(SUM(thousandths) AS DOUBLE) / 1000 AS young_temporal_pages,
  CAST(SUM(thousandths * total) AS DOUBLE) / 1000 AS young_temporal_views
FROM young
GROUP BY
  host
ORDER BY
  host NULLS LAST
