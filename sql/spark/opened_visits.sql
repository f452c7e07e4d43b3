-- opened_visits: made from sql/opened_visits.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: candidates, page_traffic, recent_views
-- parameters: none
SELECT
  candidates.page AS page,
  traffic.clients AS clients,
  traffic.views AS visits,
  COALESCE(recent.views, 0) AS recent_visits
FROM {candidates} AS candidates
INNER JOIN {page_traffic} AS traffic
  ON traffic.url = candidates.url
LEFT JOIN (
  SELECT
    url,
    SUM(views) AS views
  FROM {recent_views} AS recent_views
  WHERE
    url IN (
      SELECT
        url
      FROM {candidates} AS candidates
    )
  GROUP BY
    url
) AS recent
  ON recent.url = candidates.url
WHERE
  candidates.is_opened
ORDER BY
  page NULLS LAST
