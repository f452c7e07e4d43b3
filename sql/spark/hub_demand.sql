-- hub_demand: made from sql/hub_demand.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: chosen_hubs, link_numbers, linked_temporal
-- parameters: none
WITH links AS (
  SELECT
    link_numbers.source AS page,
    EXPLODE(link_numbers.targets) AS target
  FROM {link_numbers} AS link_numbers
  INNER JOIN {chosen_hubs} AS chosen_hubs
    ON chosen_hubs.page = link_numbers.source
)
SELECT
  links.page,
  facts.age,
  SUM(facts.views) AS views,
  COUNT(*) AS pages,
  COUNT(facts.mu) AS curves,
  COALESCE(SUM(CAST(ROUND(facts.mu * 1000000000) AS BIGINT)), 0) AS billionths
FROM links
INNER JOIN {linked_temporal} AS facts
  ON facts.page = links.target
GROUP BY
  links.page,
  facts.age
ORDER BY
  links.page NULLS LAST,
  facts.age NULLS LAST
