-- section_clients: made from sql/section_clients.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_sections, page_traffic, section_paths, section_sums
-- parameters: enough
WITH pages AS (
  SELECT
    few.prefix AS prefix,
    traffic.clients,
    traffic.few_clients
  FROM (
    SELECT
      prefix
    FROM {section_paths} AS section_paths
    INNER JOIN {section_sums} AS section_sums
      ON section_sums.section = section_paths.section
    GROUP BY
      prefix
    HAVING
      MAX(clients) < :enough
  ) AS few
  INNER JOIN {section_paths} AS section_paths
    ON section_paths.prefix = few.prefix
  INNER JOIN {page_sections} AS page_sections
    ON page_sections.section = section_paths.section
  INNER JOIN {page_traffic} AS traffic
    ON traffic.url = page_sections.url
)
SELECT
  alone.prefix AS prefix,
  GREATEST(alone.clients, COALESCE(together.clients, 0)) AS clients
FROM (
  SELECT
    prefix,
    MAX(clients) AS clients
  FROM pages
  GROUP BY
    prefix
) AS alone
LEFT JOIN (
  SELECT
    prefix,
    COUNT(DISTINCT client) AS clients
  FROM (
    SELECT
      prefix,
      EXPLODE(few_clients) AS client
    FROM pages
  ) AS members
  GROUP BY
    prefix
) AS together
  ON together.prefix = alone.prefix
ORDER BY
  prefix NULLS LAST
