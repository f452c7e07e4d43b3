-- covered_links: translated from sql/hubs/covered_links.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: covering_hubs, day_weights, link_numbers, wanted_numbers
-- parameters: none
SELECT
  links.source,
  links.target,
  wanted.is_temporal,
  CAST(CASE WHEN wanted.born >= 0 THEN wanted.worth * weights.weight ELSE 0 END AS BIGINT) AS evidence
FROM {link_numbers} AS links
INNER JOIN {covering_hubs} AS hubs
  ON hubs.page = links.source
INNER JOIN {wanted_numbers} AS wanted
  ON wanted.page = links.target
INNER JOIN {day_weights} AS weights
  ON weights.day = links.first_day
ORDER BY
  links.source NULLS LAST,
  links.target NULLS LAST
