-- page_traffic: made from sql/page_traffic.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_labels, page_totals, transits
-- parameters: chance, day, least_clients, new_from, observed_days
WITH numbered AS (
  SELECT
    site,
    url,
    total,
    birth,
    ROW_NUMBER() OVER (ORDER BY site NULLS LAST, url NULLS LAST) - 1 AS page
  FROM {page_totals} AS page_totals
), sites AS (
  SELECT
    site,
    MIN(page) AS first,
    MAX(page) AS last
  FROM numbered
  GROUP BY
    site
), triples AS (
  SELECT DISTINCT
    sources.page AS referrer,
    CASE WHEN sources.page IS NULL THEN transits.referrer END AS stranger,
    targets.page AS target,
    transits.client
  FROM {transits} AS transits
  INNER JOIN numbered AS targets
    ON targets.url = transits.target
  LEFT JOIN numbered AS sources
    ON sources.url = transits.referrer
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
), pages AS (
  SELECT
    numbered.page,
    sites.first,
    sites.last
  FROM numbered
  INNER JOIN sites
    ON sites.site = numbered.site
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
    referrer AS page,
    SUM(transits) AS referrals
  FROM edges
  WHERE
    NOT referrer IS NULL
  GROUP BY
    referrer
)
SELECT
  :day AS day,
  numbered.site,
  numbered.url,
  COALESCE(arrivals.visits, 0) AS visits,
  COALESCE(arrivals.referred, 0) AS referred,
  COALESCE(departures.referrals, 0) AS referrals,
  COALESCE(audience.clients, 0) AS clients,
  COALESCE(few.clients, ARRAY()) AS few_clients,
  COALESCE(arrivals.links, ARRAY()) AS links,
  numbered.total AS views,
  numbered.birth >= :new_from
  AND POWER(
    CAST(DATEDIFF(DAY, numbered.birth, :day) + 1 AS DOUBLE) / :observed_days,
    numbered.total
  ) < :chance AS is_new,
  CASE WHEN NOT labels.phi_n IS NULL THEN labels.is_temporal END AS is_temporal
FROM numbered
LEFT JOIN arrivals
  ON arrivals.page = numbered.page
LEFT JOIN departures
  ON departures.page = numbered.page
LEFT JOIN audience
  ON audience.page = numbered.page
LEFT JOIN few
  ON few.page = numbered.page
LEFT JOIN {page_labels} AS labels
  ON labels.url = numbered.url
ORDER BY
  numbered.page NULLS LAST
