-- changed_links: made from sql/changed_links.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: changed_pages, moved_transits
-- parameters: none
SELECT
  moved_transits.target AS target,
  moved_transits.referrer AS referrer,
  SUM(is_now - CASE WHEN targets.is_new OR sources.is_new THEN 0 ELSE was_then END) AS transits
FROM {moved_transits} AS moved_transits
INNER JOIN {changed_pages} AS targets
  ON targets.page = moved_transits.target
INNER JOIN {changed_pages} AS sources
  ON sources.page = moved_transits.referrer
WHERE
  is_within
GROUP BY
  moved_transits.target,
  moved_transits.referrer
HAVING
  SUM(is_now - CASE WHEN targets.is_new OR sources.is_new THEN 0 ELSE was_then END) <> 0
ORDER BY
  moved_transits.target NULLS LAST,
  moved_transits.referrer NULLS LAST
