-- hub_demand: the temporal pages that chosen hubs lead to, by age, with their views and curves;
--   sums are of integers (mu in billionths), which do not depend on the order of rows
-- inputs: chosen_hubs, link_numbers, linked_temporal
-- parameters: none
-- output: hub_demand
-- grain: page, age
WITH links AS (
    SELECT link_numbers.source AS page, unnest(link_numbers.targets) AS target
    FROM link_numbers
    INNER JOIN chosen_hubs ON chosen_hubs.page = link_numbers.source
)

SELECT
    links.page,
    facts.age,
    sum(facts.views) AS views,
    count(*) AS pages,
    count(facts.mu) AS curves,
    coalesce(sum(CAST(round(facts.mu * 1000000000) AS BIGINT)), 0) AS billionths
FROM links
INNER JOIN linked_temporal AS facts ON facts.page = links.target
GROUP BY links.page, facts.age
ORDER BY links.page, facts.age
