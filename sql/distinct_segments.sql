-- distinct_segments: records of overlapping log files, each counted as often as in one file
--   A line that stands in two files was logged once (rotation, copies); a line that stands twice
--   in one file was logged twice. So the n-th repeat within each file is kept once.
-- inputs: segments
-- parameters: none
-- output: requests
-- grain: request
SELECT day, ts, client, url, referrer, site
FROM (
    SELECT DISTINCT day, ts, client, url, referrer, site, repeat_in_file
    FROM (
        SELECT
            day, ts, client, url, referrer, site,
            row_number() OVER (
                PARTITION BY source, ts, client, url, referrer ORDER BY ts
            ) AS repeat_in_file
        FROM segments
    ) AS numbered
) AS once
ORDER BY ts, client, url, referrer NULLS FIRST
