-- changed_traffic: made from sql/changed_traffic.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: changed_pages, moved_transits
-- parameters: least_clients
WITH openers AS (
  SELECT
    target AS page,
    client,
    MAX(is_now) AS is_here,
    MAX(was_visit) AS was_here,
    SUM(is_now - was_visit) AS visits,
    SUM(CASE WHEN is_referred THEN is_now - was_visit END) AS referred
  FROM {moved_transits} AS moved_transits
  WHERE
    NOT target IS NULL
  GROUP BY
    target,
    client
), arrivals AS (
  SELECT
    page,
    SUM(visits) AS visits,
    SUM(referred) AS referred,
    SUM(is_here - was_here) AS clients
  FROM openers
  GROUP BY
    page
), departures AS (
  SELECT
    referrer AS page,
    SUM(is_now - was_referral) AS referrals
  FROM {moved_transits} AS moved_transits
  WHERE
    NOT referrer IS NULL
  GROUP BY
    referrer
), counted AS (
  SELECT
    pages.page,
    pages.visits + COALESCE(arrivals.visits, 0) AS visits,
    pages.referred + COALESCE(arrivals.referred, 0) AS referred,
    pages.referrals + COALESCE(departures.referrals, 0) AS referrals,
    pages.clients + COALESCE(arrivals.clients, 0) AS clients
  FROM {changed_pages} AS pages
  LEFT JOIN arrivals
    ON arrivals.page = pages.page
  LEFT JOIN departures
    ON departures.page = pages.page
), members AS (
  SELECT
    openers.page,
    openers.client
  FROM openers
  WHERE
    openers.is_here = 1
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
  INNER JOIN counted
    ON counted.page = members.page
  WHERE
    counted.clients < :least_clients
  GROUP BY
    members.page
)
SELECT
  counted.page,
  counted.visits,
  counted.referred,
  counted.referrals,
  counted.clients,
  COALESCE(few.clients, ARRAY()) AS few_clients
FROM counted
LEFT JOIN few
  ON few.page = counted.page
ORDER BY
  counted.page NULLS LAST
