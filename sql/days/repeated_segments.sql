-- repeated_segments: when a record was logged that stands in more than one of some log files, and whose
--   it is; by numbers first, because clients are seldom in two files at a time and URLs are long
-- inputs: segments
-- parameters: none
-- output: repeated_segments
-- grain: ts, client
WITH shared AS (
    SELECT ts, client
    FROM segments
    GROUP BY ts, client
    HAVING min(source) <> max(source)
)
SELECT DISTINCT ts, client
FROM (
    SELECT segments.ts, segments.client
    FROM segments
    INNER JOIN shared ON shared.ts = segments.ts AND shared.client = segments.client
    GROUP BY segments.ts, segments.client, segments.url, segments.referrer
    HAVING min(segments.source) <> max(segments.source)
) AS records
ORDER BY ts, client
