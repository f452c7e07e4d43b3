-- tuning_pages: translated from sql/evaluation/tuning_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_histories, page_labels
-- parameters: days, first, seen_before
SELECT
  site,
  url,
  is_temporal,
  is_news,
  is_known,
  is_news
  OR GET(seen_before, (
    :days + 1
  ) - 1) - GET(seen_before, born - 1) > (
    GET(seen_before, (
      LEAST(born + m, :days + 1)
    ) - 1) - GET(seen_before, born - 1)
  ) * p AS is_aged,
  birth,
  total
FROM (
  SELECT
    page_labels.site,
    page_labels.url,
    is_temporal,
    is_news,
    NOT phi_n IS NULL AND has_concentration AS is_known,
    CAST(m AS INT) AS m,
    p,
    birth,
    total,
    CAST(DATEDIFF(DAY, :first, birth) + 1 AS INT) AS born,
    CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before
  FROM {page_labels} AS page_labels
  INNER JOIN {page_histories} AS page_histories
    ON page_histories.url = page_labels.url
)
ORDER BY
  site NULLS LAST,
  url NULLS LAST
