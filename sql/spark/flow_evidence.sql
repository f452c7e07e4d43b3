-- flow_evidence: translated from sql/lists/flow_evidence.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: counted_trees
-- parameters: most
SELECT
  is_root,
  flow_pages,
  flow_thousandths,
  old_pages,
  old_temporal_pages,
  above_flow_pages,
  above_flow_thousandths
FROM (
  SELECT
    sections.site,
    sections.prefix,
    sections.depth = 0 AS is_root,
    sections.flow_pages,
    sections.flow_thousandths,
    sections.old_pages,
    sections.old_temporal_pages,
    COALESCE(above.flow_pages, 0) AS above_flow_pages,
    COALESCE(above.flow_thousandths, 0) AS above_flow_thousandths,
    ROW_NUMBER() OVER (
      PARTITION BY sections.depth = 0
      ORDER BY sections.flow_pages DESC, sections.site NULLS LAST, sections.prefix NULLS LAST
    ) AS place
  FROM {counted_trees} AS sections
  LEFT JOIN {counted_trees} AS above
    ON above.prefix = sections.parent
  WHERE
    sections.flow_pages > 0
) AS ranked
WHERE
  place <= :most
ORDER BY
  is_root NULLS LAST,
  place NULLS LAST
