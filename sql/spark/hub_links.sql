-- hub_links: made from sql/hub_links.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: covered_pages, hub_order, link_numbers, taken_hubs
-- parameters: most_links, whole
WITH bounds AS (
  SELECT
    links.page,
    SUM(COALESCE(covered.worth, :whole)) AS bound
  FROM (
    SELECT
      source AS page,
      EXPLODE(targets) AS target
    FROM {link_numbers} AS link_numbers
  ) AS links
  LEFT JOIN {covered_pages} AS covered
    ON covered.page = links.target
  GROUP BY
    links.page
), remaining AS (
  SELECT
    hubs.place,
    hubs.page,
    hubs.temporal_pages,
    bounds.bound
  FROM {hub_order} AS hubs
  INNER JOIN bounds
    ON bounds.page = hubs.page
  WHERE
    bounds.bound > 0
    AND NOT EXISTS(
      SELECT
        1
      FROM (
        SELECT
          page AS absent_key
        FROM {taken_hubs} AS taken_hubs
      ) AS absent
      WHERE
        absent.absent_key = hubs.page
    )
), best AS (
  SELECT
    *
  FROM remaining
  ORDER BY
    bound DESC,
    place NULLS LAST
  LIMIT :most_links
), placed AS (
  SELECT
    *,
    SUM(temporal_pages) OVER (
      ORDER BY bound DESC, place NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) - temporal_pages AS links_before
  FROM best
)
SELECT
  placed.page,
  placed.place,
  placed.bound,
  links.targets,
  (
    SELECT
      COUNT(*)
    FROM remaining
  ) AS hubs_left
FROM placed
INNER JOIN {link_numbers} AS links
  ON links.source = placed.page
WHERE
  placed.links_before < :most_links
ORDER BY
  placed.bound DESC,
  placed.place NULLS LAST
