-- distinct_segments: records of overlapping log files, each counted as often as in one file, in no order
--   A line that stands in two files was logged once (rotation, copies); a line that stands twice
--   in one file was logged twice. So the n-th repeat within each file is kept once.
-- inputs: segments, repeated_segments
-- parameters: none
-- output: requests
-- grain: request
SELECT segments.day, segments.ts, segments.client, segments.url, segments.referrer, segments.site
FROM segments
LEFT JOIN repeated_segments AS repeated
    ON repeated.ts = segments.ts AND repeated.client = segments.client
WHERE repeated.client IS NULL
UNION ALL
SELECT day, ts, client, url, referrer, site
FROM (
    SELECT DISTINCT day, ts, client, url, referrer, site, repeat_in_file
    FROM (
        SELECT
            segments.day,
            segments.ts,
            segments.client,
            segments.url,
            segments.referrer,
            segments.site,
            row_number() OVER (
                PARTITION BY
                    segments.source,
                    segments.ts,
                    segments.client,
                    segments.url,
                    segments.referrer
                ORDER BY segments.ts
            ) AS repeat_in_file
        FROM segments
        INNER JOIN repeated_segments AS repeated
            ON repeated.ts = segments.ts AND repeated.client = segments.client
    ) AS numbered
) AS once
