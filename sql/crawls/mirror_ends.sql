-- mirror_ends: every URL that stands at an end of a link, as it is written
-- inputs: mirror_edges
-- parameters: none
-- output: mirror_ends
-- grain: written
WITH whole AS (
    SELECT source, target
    FROM mirror_edges
    WHERE source <> '' AND target <> ''
)

SELECT source AS written
FROM whole
UNION
SELECT target AS written
FROM whole
