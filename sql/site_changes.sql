-- site_changes: what has come and gone since an earlier list (TW 1: event sites; NP 1: doha2006)
-- inputs: now, earlier
-- parameters: day, earlier_day, has_earlier, observed_from, min_clients
-- output: site_changes
-- grain: site
SELECT *
FROM (
    SELECT
        $day AS day,
        coalesce(now.site, earlier.site) AS site,
        CASE
            WHEN NOT $has_earlier AND coalesce(now.is_selected, FALSE) THEN 'listed'
            WHEN coalesce(now.is_selected, FALSE) AND NOT coalesce(earlier.is_selected, FALSE)
                THEN 'entered'
            WHEN coalesce(earlier.is_selected, FALSE) AND NOT coalesce(now.is_selected, FALSE)
                THEN 'left'
            WHEN NOT coalesce(now.is_selected, FALSE) THEN 'unlisted'
            WHEN now.rank < earlier.rank THEN 'rising'
            WHEN now.rank > earlier.rank THEN 'falling'
            ELSE 'steady'
        END AS change,
        CASE WHEN coalesce(now.is_selected, FALSE) THEN now.rank END AS rank,
        CASE WHEN coalesce(earlier.is_selected, FALSE) THEN earlier.rank END AS earlier_rank,
        now.bound AS bound,
        earlier.bound AS earlier_bound,
        coalesce(now.temporal_pages, 0) AS temporal_pages,
        coalesce(now.first_seen, earlier.first_seen) AS first_seen,
        coalesce(now.last_seen, earlier.last_seen) AS last_seen,
        -- Of a site that was there on the window's first day nobody knows how old it is.
        coalesce(now.first_seen > $earlier_day AND now.first_seen > $observed_from, FALSE)
            AS is_first_seen,
        (now.site IS NULL OR now.is_quiet)
            AND coalesce(NOT earlier.is_quiet, FALSE) AS is_gone_quiet,
        $has_earlier AS has_earlier,
        $earlier_day AS earlier_day
    FROM now
    FULL OUTER JOIN earlier ON earlier.site = now.site
    -- Names that too few clients know are not told.
    WHERE greatest(coalesce(now.clients, 0), coalesce(earlier.clients, 0)) >= $min_clients
)
WHERE change <> 'unlisted' OR is_first_seen OR is_gone_quiet
ORDER BY site
