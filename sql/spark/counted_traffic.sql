-- counted_traffic: translated from sql/traffic/counted_traffic.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counts, page_totals, page_traffic, urls
-- parameters: views_per_client
WITH places AS (
  SELECT
    site,
    url,
    number AS page,
    number - MIN(number) OVER (PARTITION BY site) AS place
  FROM {page_totals} AS page_totals
), known AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), urls.day) * 4294967296 + urls.number AS id,
    places.site,
    places.page,
    places.place
  FROM {urls} AS urls
  INNER JOIN places
    ON places.url = urls.url
), counted AS (
  SELECT
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + url AS target_id,
    DATEDIFF(DAY, CAST('1970-01-01' AS DATE), day) * 4294967296 + referrer AS source_id,
    views,
    clients,
    CASE WHEN referrer IS NULL OR referrer <> url THEN transits END AS transits
  FROM {counts} AS counts
), days AS (
  SELECT
    target_id,
    SUM(views) AS views,
    SUM(transits) AS transits,
    SUM(CASE WHEN NOT source_id IS NULL THEN transits END) AS referred,
    MAX(clients) AS clients,
    SUM(CASE WHEN clients IS NULL THEN COALESCE(views, transits) END) AS without_clients
  FROM counted
  GROUP BY
    target_id
), arrivals AS (
  SELECT
    known.page,
    GREATEST(COALESCE(SUM(days.views), 0), COALESCE(SUM(days.transits), 0)) AS visits,
    COALESCE(SUM(days.referred), 0) AS referred,
    MAX(
      GREATEST(
        COALESCE(days.clients, 0),
        CAST(FLOOR(CAST(COALESCE(days.without_clients, 0) AS DOUBLE) / :views_per_client) AS BIGINT)
      )
    ) AS clients
  FROM days
  INNER JOIN known
    ON known.id = days.target_id
  GROUP BY
    known.page
), departures AS (
  SELECT
    known.page,
    SUM(counted.transits) AS referrals
  FROM counted
  INNER JOIN known
    ON known.id = counted.source_id
  GROUP BY
    known.page
), counted_links AS (
  SELECT
    targets.page AS target,
    sources.place AS place,
    edges.transits AS transits
  FROM (
    SELECT
      source_id,
      target_id,
      SUM(transits) AS transits
    FROM counted
    WHERE
      NOT source_id IS NULL AND transits > 0
    GROUP BY
      source_id,
      target_id
  ) AS edges
  INNER JOIN known AS sources
    ON sources.id = edges.source_id
  INNER JOIN known AS targets
    ON targets.id = edges.target_id AND targets.site = sources.site
), links AS (
  SELECT
    target,
    ARRAY_SORT(
      COLLECT_LIST(STRUCT(CAST(place AS INT) AS page, CAST(transits AS BIGINT) AS transits))
    ) AS links
  FROM (
    SELECT
      target,
      place,
      SUM(transits) AS transits
    FROM (
      SELECT
        target,
        place,
        transits
      FROM counted_links
      UNION ALL
      SELECT
        target,
        link.page AS place,
        link.transits AS transits
      FROM (
        SELECT
          url AS target,
          EXPLODE(links) AS link
        FROM {page_traffic} AS page_traffic
        WHERE
          url IN (
            SELECT
              counted_links.target
            FROM counted_links
          )
      ) AS of_clients
    ) AS every_link
    GROUP BY
      target,
      place
  ) AS sums
  GROUP BY
    target
)
SELECT
  traffic.day,
  traffic.site,
  traffic.url,
  traffic.visits + COALESCE(arrivals.visits, 0) AS visits,
  traffic.referred + COALESCE(arrivals.referred, 0) AS referred,
  traffic.referrals + COALESCE(departures.referrals, 0) AS referrals,
  GREATEST(traffic.clients, COALESCE(arrivals.clients, 0)) AS clients,
  CASE
    WHEN COALESCE(arrivals.clients, 0) <= traffic.clients
    THEN traffic.few_clients
    ELSE ARRAY()
  END AS few_clients,
  COALESCE(links.links, traffic.links) AS links,
  traffic.views,
  traffic.birth,
  traffic.is_new,
  traffic.is_temporal
FROM {page_traffic} AS traffic
LEFT JOIN arrivals
  ON arrivals.page = traffic.url
LEFT JOIN departures
  ON departures.page = traffic.url
LEFT JOIN links
  ON links.target = traffic.url
ORDER BY
  traffic.url NULLS LAST
