-- flow_evidence: the sections with most flow, roots and others, beside the section above each: from
--   them is learned how far shares are drawn towards what is known otherwise
-- inputs: counted_trees
-- parameters: most
-- output: flow_evidence
-- grain: prefix
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
        coalesce(above.flow_pages, 0) AS above_flow_pages,
        coalesce(above.flow_thousandths, 0) AS above_flow_thousandths,
        row_number() OVER (
            PARTITION BY sections.depth = 0
            ORDER BY sections.flow_pages DESC, sections.site, sections.prefix
        ) AS place
    FROM counted_trees AS sections
    LEFT JOIN counted_trees AS above ON above.prefix = sections.parent
    WHERE sections.flow_pages > 0
) AS ranked
WHERE place <= $most
ORDER BY is_root, place
