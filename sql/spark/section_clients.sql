-- section_clients: made from sql/section_clients.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: page_sections, section_paths, section_sums, transits
-- parameters: enough
SELECT
  few.prefix AS prefix,
  COUNT(DISTINCT transits.client) AS clients
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
INNER JOIN {transits} AS transits
  ON transits.target = page_sections.url
GROUP BY
  few.prefix
ORDER BY
  prefix NULLS LAST
