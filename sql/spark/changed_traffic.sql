-- changed_traffic: made from sql/changed_traffic.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: changed_pages, moved_transits
-- parameters: least_clients
WITH arrivals AS (
  SELECT
    pages.page,
    SUM(is_now - CASE WHEN is_new THEN 0 ELSE was_then END) AS visits,
    SUM(
      CASE WHEN is_referred THEN is_now - CASE WHEN is_new THEN 0 ELSE was_then END END
    ) AS referred
  FROM {moved_transits} AS moved_transits
  INNER JOIN {changed_pages} AS pages
    ON pages.page = moved_transits.target
  GROUP BY
    pages.page
), departures AS (
  SELECT
    pages.page,
    SUM(is_now - CASE WHEN is_new THEN 0 ELSE was_then END) AS referrals
  FROM {moved_transits} AS moved_transits
  INNER JOIN {changed_pages} AS pages
    ON pages.page = moved_transits.referrer
  GROUP BY
    pages.page
), openers AS (
  SELECT
    pages.page,
    client,
    MAX(is_now) AS is_now,
    MAX(CASE WHEN is_new THEN 0 ELSE was_then END) AS was_then
  FROM {moved_transits} AS moved_transits
  INNER JOIN {changed_pages} AS pages
    ON pages.page = moved_transits.target
  GROUP BY
    pages.page,
    client
), audience AS (
  SELECT
    pages.page,
    MAX(pages.clients) + COALESCE(SUM(is_now - was_then), 0) AS clients
  FROM {changed_pages} AS pages
  LEFT JOIN openers
    ON openers.page = pages.page
  GROUP BY
    pages.page
), members AS (
  SELECT
    openers.page,
    openers.client
  FROM openers
  INNER JOIN audience
    ON audience.page = openers.page
  WHERE
    openers.is_now = 1 AND audience.clients < :least_clients
  UNION ALL
  SELECT
    before.page,
    before.client
  FROM (
    SELECT
      page,
      EXPLODE(few_clients) AS client
    FROM {changed_pages} AS changed_pages
  ) AS before
  LEFT JOIN openers
    ON openers.page = before.page AND openers.client = before.client
  WHERE
    openers.client IS NULL
), few AS (
  SELECT
    members.page,
    ARRAY_SORT(COLLECT_LIST(members.client)) AS clients
  FROM members
  INNER JOIN audience
    ON audience.page = members.page
  WHERE
    audience.clients < :least_clients
  GROUP BY
    members.page
)
SELECT
  pages.page,
  pages.visits + COALESCE(arrivals.visits, 0) AS visits,
  pages.referred + COALESCE(arrivals.referred, 0) AS referred,
  pages.referrals + COALESCE(departures.referrals, 0) AS referrals,
  audience.clients AS clients,
  COALESCE(few.clients, ARRAY()) AS few_clients
FROM {changed_pages} AS pages
INNER JOIN audience
  ON audience.page = pages.page
LEFT JOIN arrivals
  ON arrivals.page = pages.page
LEFT JOIN departures
  ON departures.page = pages.page
LEFT JOIN few
  ON few.page = pages.page
ORDER BY
  pages.page NULLS LAST
