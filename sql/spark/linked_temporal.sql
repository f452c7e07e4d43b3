-- linked_temporal: made from sql/linked_temporal.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: interest_curves, link_pages, page_histories, page_labels
-- parameters: day
SELECT
  pages.page,
  lives.total AS views,
  CASE WHEN NOT lives.is_born_before THEN DATEDIFF(DAY, lives.birth, :day) END AS age,
  curves.mu
FROM {page_labels} AS labels
INNER JOIN {link_pages} AS pages
  ON pages.url = labels.url
INNER JOIN {page_histories} AS lives
  ON lives.url = labels.url
INNER JOIN {interest_curves} AS curves
  ON curves.url = labels.url
WHERE
  labels.is_temporal
ORDER BY
  pages.page NULLS LAST
