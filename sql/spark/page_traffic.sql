-- page_traffic: translated from sql/traffic/page_traffic.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: page_numbers, page_referrals, page_transits
-- parameters: chance, day, first_page, last_page, least_clients, new_from, observed_days
WITH pages AS (
  SELECT
    *
  FROM {page_numbers} AS page_numbers
  WHERE
    page BETWEEN :first_page AND :last_page
), triples AS (
  SELECT
    *
  FROM {page_transits} AS page_transits
  WHERE
    target BETWEEN :first_page AND :last_page
), edges AS (
  SELECT
    referrer,
    target,
    COUNT(*) AS transits,
    COUNT(CASE WHEN NOT referrer IS NULL OR NOT stranger IS NULL THEN 1 END) AS referred
  FROM triples
  GROUP BY
    referrer,
    target
), openers AS (
  SELECT DISTINCT
    target AS page,
    client
  FROM triples
), audience AS (
  SELECT
    page,
    COUNT(*) AS clients
  FROM openers
  GROUP BY
    page
), few AS (
  SELECT
    openers.page,
    ARRAY_SORT(COLLECT_LIST(openers.client)) AS clients
  FROM openers
  INNER JOIN audience
    ON audience.page = openers.page
  WHERE
    audience.clients < :least_clients
  GROUP BY
    openers.page
), arrivals AS (
  SELECT
    edges.target AS page,
    SUM(edges.transits) AS visits,
    SUM(edges.referred) AS referred,
    ARRAY_SORT(
      COLLECT_LIST(
        STRUCT(CAST(edges.referrer - pages.first AS INT) AS page, edges.transits AS transits)
      ) FILTER(WHERE
        edges.referrer BETWEEN pages.first AND pages.last)
    ) AS links
  FROM edges
  INNER JOIN pages
    ON pages.page = edges.target
  GROUP BY
    edges.target
), departures AS (
  SELECT
    page,
    referrals
  FROM {page_referrals} AS page_referrals
  WHERE
    page BETWEEN :first_page AND :last_page
)
SELECT
  :day AS day,
  pages.site,
  pages.page AS url,
  COALESCE(arrivals.visits, 0) AS visits,
  COALESCE(arrivals.referred, 0) AS referred,
  COALESCE(departures.referrals, 0) AS referrals,
  COALESCE(audience.clients, 0) AS clients,
  COALESCE(few.clients, ARRAY()) AS few_clients,
  COALESCE(arrivals.links, ARRAY()) AS links,
  pages.total AS views,
  pages.birth,
  pages.birth >= :new_from
  AND POWER(CAST(DATEDIFF(DAY, pages.birth, :day) + 1 AS DOUBLE) / :observed_days, pages.total) < :chance AS is_new,
  pages.is_temporal
FROM pages
LEFT JOIN arrivals
  ON arrivals.page = pages.page
LEFT JOIN departures
  ON departures.page = pages.page
LEFT JOIN audience
  ON audience.page = pages.page
LEFT JOIN few
  ON few.page = pages.page
ORDER BY
  pages.page NULLS LAST
