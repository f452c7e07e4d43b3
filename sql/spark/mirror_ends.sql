-- mirror_ends: translated from sql/crawls/mirror_ends.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: mirror_edges
-- parameters: none
WITH whole AS (
  SELECT
    source,
    target
  FROM {mirror_edges} AS mirror_edges
  WHERE
    source <> '' AND target <> ''
)
SELECT
  source AS written
FROM whole
UNION
SELECT
  target AS written
FROM whole
