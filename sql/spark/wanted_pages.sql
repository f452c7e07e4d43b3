-- wanted_pages: translated from sql/hubs/wanted_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: early_labels, page_histories, page_labels
-- parameters: complete_days, first, known_births, least_views
WITH temporal AS (
  SELECT
    lives.url,
    lives.birth,
    lives.total,
    lives.views
  FROM {page_labels} AS labels
  INNER JOIN {page_histories} AS lives
    ON lives.url = labels.url
  WHERE
    labels.is_temporal
), young AS (
  SELECT
    url,
    birth,
    CAST(ROUND(COALESCE(probability, 0.5) * 1000000) AS BIGINT) AS worth
  FROM {early_labels} AS early_labels
  WHERE
    total >= :least_views
), pages AS (
  SELECT
    COALESCE(temporal.url, young.url) AS url,
    DATEDIFF(DAY, :first, COALESCE(temporal.birth, young.birth)) AS birth,
    COALESCE(young.worth, 1000000) AS worth,
    NOT temporal.url IS NULL AS is_temporal,
    COALESCE(temporal.total, 0) AS views,
    temporal.views AS by_day
  FROM temporal
  FULL OUTER JOIN young
    ON young.url = temporal.url
), known AS (
  SELECT
    *,
    SUBSTRING(:known_births, birth + 1, 1) = '1' AS is_known,
    is_temporal
    AND SUBSTRING(:known_births, birth + 1, 1) = '1'
    AND birth + :complete_days <= LENGTH(:known_births) AS is_complete
  FROM pages
)
SELECT
  url,
  worth,
  is_temporal,
  CASE WHEN is_known THEN birth ELSE -1 END AS born,
  views,
  CASE WHEN is_complete THEN GET(by_day, (
    birth + 1
  ) - 1) ELSE 0 END AS one_day,
  CASE
    WHEN is_complete
    THEN GET(by_day, (
      birth + 1
    ) - 1) + COALESCE(GET(by_day, (
      birth + 2
    ) - 1), 0)
    ELSE 0
  END AS two_days,
  CASE
    WHEN is_complete
    THEN GET(by_day, (
      birth + 1
    ) - 1) + COALESCE(GET(by_day, (
      birth + 2
    ) - 1), 0) + COALESCE(GET(by_day, (
      birth + 3
    ) - 1), 0)
    ELSE 0
  END AS three_days,
  CASE WHEN is_complete THEN views ELSE 0 END AS all_days
FROM known
ORDER BY
  url NULLS LAST
