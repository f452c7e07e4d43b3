-- covered_links: the wanted pages that some hubs lead to, by number: temporal ones, and what each adds to
--   the evidence of a hub
-- inputs: link_numbers, wanted_numbers, covering_hubs, day_weights
-- parameters: none
-- output: covered_links
-- grain: source, target
SELECT
    links.source,
    links.target,
    wanted.is_temporal,
    CAST(
        CASE WHEN wanted.born >= 0 THEN wanted.worth * weights.weight ELSE 0 END AS BIGINT
    ) AS evidence
FROM link_numbers AS links
INNER JOIN covering_hubs AS hubs ON hubs.page = links.source
INNER JOIN wanted_numbers AS wanted ON wanted.page = links.target
INNER JOIN day_weights AS weights ON weights.day = links.first_day
ORDER BY links.source, links.target
