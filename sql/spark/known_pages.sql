-- known_pages: translated from sql/evaluation/known_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_histories, page_labels
-- parameters: days, first, seen_before, sites_until
SELECT
  url,
  total,
  birth,
  is_temporal,
  is_news,
  NOT phi_n IS NULL AS has_temporal,
  is_news
  OR GET(seen_before, (
    :days + 1
  ) - 1) - GET(seen_before, born - 1) > (
    GET(seen_before, (
      LEAST(born + m, :days + 1)
    ) - 1) - GET(seen_before, born - 1)
  ) * p AS has_news
FROM (
  SELECT
    page_labels.url,
    is_temporal,
    is_news,
    phi_n,
    CAST(m AS INT) AS m,
    p,
    total,
    birth,
    CAST(DATEDIFF(DAY, :first, birth) + 1 AS INT) AS born,
    CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before
  FROM {page_labels} AS page_labels
  INNER JOIN {page_histories} AS page_histories
    ON page_histories.url = page_labels.url
  WHERE
    MD5(page_labels.site) <= :sites_until
)
ORDER BY
  url NULLS LAST
