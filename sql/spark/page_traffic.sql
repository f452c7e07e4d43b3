-- page_traffic: made from sql/page_traffic.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_labels, page_totals, transits
-- parameters: chance, day, least_clients, new_from, observed_days
WITH pages AS (
  SELECT
    site,
    url,
    total,
    birth,
    ROW_NUMBER() OVER (ORDER BY site NULLS LAST, url NULLS LAST) - 1 AS page,
    RANK() OVER (ORDER BY site NULLS LAST) - 1 AS first,
    COUNT(*) OVER (PARTITION BY site) AS size
  FROM {page_totals} AS page_totals
), ends AS (
  SELECT
    url,
    page
  FROM pages
  UNION ALL
  SELECT
    url,
    -ROW_NUMBER() OVER (ORDER BY url NULLS LAST) AS page
  FROM (
    SELECT DISTINCT
      referrer AS url
    FROM {transits} AS transits
    WHERE
      NOT referrer IS NULL
  ) AS referrers
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM (
        SELECT
          url AS absent_key
        FROM {page_totals} AS page_totals
      ) AS absent
      WHERE
        absent.absent_key = url
    )
), triples AS (
  SELECT DISTINCT
    sources.page AS referrer,
    targets.page AS target,
    transits.client
  FROM {transits} AS transits
  INNER JOIN pages AS targets
    ON targets.url = transits.target
  LEFT JOIN ends AS sources
    ON sources.url = transits.referrer
), edges AS (
  SELECT
    referrer,
    target,
    COUNT(*) AS transits
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
    target AS page,
    SUM(transits) AS visits,
    SUM(CASE WHEN referrer IS NULL THEN 0 ELSE transits END) AS referred
  FROM edges
  GROUP BY
    target
), departures AS (
  SELECT
    referrer AS page,
    SUM(transits) AS referrals
  FROM edges
  WHERE
    referrer >= 0
  GROUP BY
    referrer
), links AS (
  SELECT
    edges.target AS page,
    ARRAY_SORT(
      COLLECT_LIST(
        STRUCT(CAST(edges.referrer - pages.first AS INT) AS page, edges.transits AS transits)
      )
    ) AS links
  FROM edges
  INNER JOIN pages
    ON pages.page = edges.target
  WHERE
    edges.referrer >= pages.first AND edges.referrer < pages.first + pages.size
  GROUP BY
    edges.target
)
SELECT
  :day AS day,
  pages.site,
  pages.url,
  COALESCE(arrivals.visits, 0) AS visits,
  COALESCE(arrivals.referred, 0) AS referred,
  COALESCE(departures.referrals, 0) AS referrals,
  COALESCE(audience.clients, 0) AS clients,
  COALESCE(few.clients, ARRAY()) AS few_clients,
  COALESCE(links.links, ARRAY()) AS links,
  pages.total AS views,
  pages.birth >= :new_from
  AND POWER(CAST(DATEDIFF(DAY, pages.birth, :day) + 1 AS DOUBLE) / :observed_days, pages.total) < :chance AS is_new,
  CASE WHEN NOT labels.phi_n IS NULL THEN labels.is_temporal END AS is_temporal
FROM pages
LEFT JOIN arrivals
  ON arrivals.page = pages.page
LEFT JOIN departures
  ON departures.page = pages.page
LEFT JOIN audience
  ON audience.page = pages.page
LEFT JOIN few
  ON few.page = pages.page
LEFT JOIN links
  ON links.page = pages.page
LEFT JOIN {page_labels} AS labels
  ON labels.url = pages.url
ORDER BY
  pages.page NULLS LAST
