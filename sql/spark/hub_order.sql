-- hub_order: made from sql/hub_order.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: hub_pages, link_visits
-- parameters: drops_quiet, min_clients, observed_days, quiet_share, recent_days, usual_visits
WITH visited AS (
  SELECT
    hubs.page,
    hubs.url,
    hubs.is_external,
    hubs.temporal_pages,
    visits.clients,
    visits.recent_visits,
    CAST(visits.visits * :recent_days AS DOUBLE) / :observed_days AS usual_visits
  FROM {hub_pages} AS hubs
  INNER JOIN {link_visits} AS visits
    ON visits.page = hubs.page
)
SELECT
  ROW_NUMBER() OVER (ORDER BY temporal_pages DESC, page NULLS LAST) AS place,
  page,
  url,
  is_external,
  clients,
  temporal_pages
FROM visited
WHERE
  clients >= :min_clients
  AND NOT (
    :drops_quiet
    AND usual_visits >= :usual_visits
    AND recent_visits < :quiet_share * usual_visits
  )
ORDER BY
  place NULLS LAST
