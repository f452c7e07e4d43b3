-- mirror_ends: made from sql/mirror_ends.sql by `python -m temporal_assets.engines.translation`; edit that
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
