-- annotated_pages: translated from sql/labels/annotated_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: annotated, interest_curves, page_histories, page_totals
-- parameters: section
SELECT
  annotated.line,
  annotated.url,
  REGEXP_EXTRACT(annotated.url, :section) AS section,
  annotated.is_temporal,
  totals.site,
  totals.total,
  histories.views,
  curves.mu,
  curves.sigma,
  COALESCE(curves.reason = 'one_day', FALSE) AS is_one_day
FROM {annotated} AS annotated
LEFT JOIN {page_totals} AS totals
  ON totals.url = annotated.url
LEFT JOIN {page_histories} AS histories
  ON histories.url = annotated.url
LEFT JOIN {interest_curves} AS curves
  ON curves.url = annotated.url
ORDER BY
  annotated.line NULLS LAST
