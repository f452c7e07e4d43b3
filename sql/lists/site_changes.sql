-- site_changes: what has come and gone since an earlier list (TW 1: event sites; NP 1: doha2006);
--   rising and falling among the sites of both lists: who enters pushes nobody down
-- inputs: now, earlier
-- parameters: day, earlier_day, has_earlier, observed_from, min_clients
-- output: site_changes
-- grain: site
WITH pairs AS (
    SELECT
        coalesce(now.site, earlier.site) AS site,
        coalesce(now.is_selected, FALSE) AS is_in,
        coalesce(earlier.is_selected, FALSE) AS was_in,
        CASE WHEN now.is_selected THEN now.rank END AS rank,
        CASE WHEN earlier.is_selected THEN earlier.rank END AS earlier_rank,
        now.bound AS bound,
        earlier.bound AS earlier_bound,
        coalesce(now.temporal_pages, 0) AS temporal_pages,
        coalesce(now.first_seen, earlier.first_seen) AS first_seen,
        coalesce(now.last_seen, earlier.last_seen) AS last_seen,
        -- Of a site that was there on the window's first day nobody knows how old it is.
        coalesce(now.first_seen > $earlier_day AND now.first_seen > $observed_from, FALSE)
            AS is_first_seen,
        (now.site IS NULL OR now.is_quiet)
            AND coalesce(NOT earlier.is_quiet, FALSE) AS is_gone_quiet
    FROM now
    FULL OUTER JOIN earlier ON earlier.site = now.site
    -- Names that too few clients know are not told.
    WHERE greatest(coalesce(now.clients, 0), coalesce(earlier.clients, 0)) >= $min_clients
),

places AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY is_in AND was_in ORDER BY rank) AS place,
        row_number() OVER (PARTITION BY is_in AND was_in ORDER BY earlier_rank) AS earlier_place
    FROM pairs
)

SELECT
    $day AS day,
    site,
    CASE
        WHEN NOT is_in AND NOT was_in THEN 'unlisted'
        WHEN NOT $has_earlier THEN 'listed'
        WHEN NOT was_in THEN 'entered'
        WHEN NOT is_in THEN 'left'
        WHEN place < earlier_place THEN 'rising'
        WHEN place > earlier_place THEN 'falling'
        ELSE 'steady'
    END AS change,
    rank,
    earlier_rank,
    bound,
    earlier_bound,
    temporal_pages,
    first_seen,
    last_seen,
    is_first_seen,
    is_gone_quiet,
    $has_earlier AS has_earlier,
    $earlier_day AS earlier_day
FROM places
WHERE is_in OR was_in OR is_first_seen OR is_gone_quiet
ORDER BY site
