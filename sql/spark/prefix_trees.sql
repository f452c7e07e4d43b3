-- prefix_trees: made from sql/prefix_trees.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: few_pages, page_traffic, tree_sums
-- parameters: day
WITH known AS (
  SELECT
    few_pages.prefix AS prefix,
    traffic.clients,
    traffic.few_clients
  FROM {few_pages} AS few_pages
  INNER JOIN {page_traffic} AS traffic
    ON traffic.url = few_pages.url
), alone AS (
  SELECT
    prefix,
    MAX(clients) AS clients
  FROM known
  GROUP BY
    prefix
), together AS (
  SELECT
    prefix,
    COUNT(DISTINCT client) AS clients
  FROM (
    SELECT
      prefix,
      EXPLODE(few_clients) AS client
    FROM known
  ) AS members
  GROUP BY
    prefix
)
SELECT
  :day AS day,
  site,
  sums.prefix AS prefix,
  parent,
  depth,
  is_program,
  first_seen,
  own_pages,
  pages,
  temporal_pages,
  news_pages,
  curve_pages,
  aged_pages,
  views,
  temporal_views,
  recent_views,
  view_squares,
  GREATEST(sums.clients, COALESCE(alone.clients, 0), COALESCE(together.clients, 0)) AS clients
FROM {tree_sums} AS sums
LEFT JOIN alone
  ON alone.prefix = sums.prefix
LEFT JOIN together
  ON together.prefix = sums.prefix
ORDER BY
  site NULLS LAST,
  sums.prefix NULLS LAST
