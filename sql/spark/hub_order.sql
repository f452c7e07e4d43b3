-- hub_order: translated from sql/hubs/hub_order.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: hub_facts, link_visits
-- parameters: min_clients, most_hubs, site
WITH known AS (
  SELECT
    facts.*,
    visits.clients
  FROM {hub_facts} AS facts
  INNER JOIN {link_visits} AS visits
    ON visits.page = facts.page
  WHERE
    visits.clients >= :min_clients
), placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (ORDER BY evidence DESC, temporal_pages DESC, page NULLS LAST) AS place,
    ROW_NUMBER() OVER (ORDER BY temporal_pages DESC, page NULLS LAST) AS paper_place,
    ROW_NUMBER() OVER (
      PARTITION BY REGEXP_EXTRACT(url, :site)
      ORDER BY evidence DESC, temporal_pages DESC, page NULLS LAST
    ) = 1 AS is_entrance
  FROM known
)
SELECT
  page,
  url,
  clients,
  evidence,
  temporal_pages,
  wanted_pages,
  views,
  one_day,
  three_days,
  all_days,
  shown,
  missed,
  place,
  paper_place,
  is_entrance
FROM placed
WHERE
  place <= :most_hubs OR paper_place <= :most_hubs OR is_entrance
ORDER BY
  place NULLS LAST
