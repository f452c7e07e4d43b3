-- page_flow: translated from sql/lists/page_flow.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: early_labels, page_histories, page_labels
-- parameters: day, flow_from, least_views
WITH young AS (
  SELECT
    site,
    url,
    birth,
    total,
    probability
  FROM {early_labels} AS early_labels
  WHERE
    birth >= :flow_from
), reliable AS (
  SELECT
    page_histories.site,
    page_histories.url,
    birth,
    total,
    is_temporal,
    label_basis
  FROM {page_histories} AS page_histories
  INNER JOIN {page_labels} AS page_labels
    ON page_labels.url = page_histories.url
  WHERE
    birth >= :flow_from
), pages AS (
  SELECT
    reliable.site,
    reliable.url,
    reliable.birth,
    reliable.total,
    TRUE AS is_reliable,
    CASE WHEN young.probability IS NULL THEN 'label' ELSE 'early' END AS basis,
    CASE
      WHEN NOT young.probability IS NULL
      THEN young.probability
      WHEN NOT young.url IS NULL AND label_basis = 'none'
      THEN NULL
      WHEN reliable.is_temporal
      THEN 1.0
      ELSE 0.0
    END AS temporal
  FROM reliable
  LEFT JOIN young
    ON young.url = reliable.url
  UNION ALL
  SELECT
    young.site,
    young.url,
    young.birth,
    young.total,
    FALSE AS is_reliable,
    'early' AS basis,
    young.probability AS temporal
  FROM young
  LEFT JOIN reliable
    ON reliable.url = young.url
  WHERE
    reliable.url IS NULL AND young.total >= :least_views
)
SELECT
  :day AS day,
  site,
  url,
  birth,
  total AS views,
  is_reliable,
  CAST(FLOOR(1000 * CAST(temporal AS DOUBLE) + 0.5) AS DOUBLE) / 1000 AS temporal,
  basis
FROM pages
WHERE
  NOT temporal IS NULL
ORDER BY
  site NULLS LAST,
  url NULLS LAST
