-- latest_counts: counts of overlapping files, of which the file read last counts where several have the
--   same page, referrer and hour: an export that is made again holds days that the one before had.
--   Rows of one file are added; what counts views and what counts transits are two things.
-- inputs: count_segments, count_files
-- parameters: none
-- output: latest_counts
-- grain: row of a file
SELECT day, ts, url, referrer, site, source, views, visitors, transits
FROM (
    SELECT
        segments.*,
        files.serial,
        max(files.serial) OVER (
            PARTITION BY
                segments.ts,
                segments.url,
                segments.referrer,
                coalesce(segments.views, segments.visitors) IS NULL
        ) AS last_serial
    FROM count_segments AS segments
    INNER JOIN count_files AS files ON files.source = segments.source
) AS counted
WHERE serial = last_serial
