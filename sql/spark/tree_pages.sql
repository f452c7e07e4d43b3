-- tree_pages: translated from sql/lists/tree_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counted_sites, page_flow, page_histories, page_labels
-- parameters: days, recent, views_per_client
WITH lives AS (
  SELECT
    url,
    birth,
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
)
SELECT
  labels.site,
  labels.url,
  lives.birth,
  TRUE AS is_reliable,
  labels.is_temporal,
  labels.is_news,
  NOT labels.phi_n IS NULL AS has_curve,
  CAST(labels.m AS BIGINT) AS m,
  labels.p,
  CAST(FLOOR(1000 * flow.temporal + 0.5) AS BIGINT) AS flow_thousandths,
  lives.total AS views,
  lives.recent_views,
  CASE
    WHEN counted_sites.site IS NULL
    THEN lives.most_views
    ELSE CAST(FLOOR(CAST(lives.most_views AS DOUBLE) / :views_per_client) AS BIGINT)
  END AS clients
FROM {page_labels} AS labels
INNER JOIN lives
  ON lives.url = labels.url
LEFT JOIN {page_flow} AS flow
  ON flow.url = labels.url
LEFT JOIN {counted_sites} AS counted_sites
  ON counted_sites.site = labels.site
UNION ALL
SELECT
  site,
  url,
  birth,
  FALSE AS is_reliable,
  FALSE AS is_temporal,
  FALSE AS is_news,
  FALSE AS has_curve,
  1 AS m,
  0.0 AS p,
  CAST(FLOOR(1000 * temporal + 0.5) AS BIGINT) AS flow_thousandths,
  0 AS views,
  0 AS recent_views,
  1 AS clients
FROM {page_flow} AS page_flow
WHERE
  NOT is_reliable
ORDER BY
  site NULLS LAST,
  url NULLS LAST
