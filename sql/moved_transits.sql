-- moved_transits: distinct (referrer, target, client) that have come or gone between two windows, or
--   of which more must be known: whether each is of the later window, and whether the earlier one
--   counted it for its target and for its referrer, which it did of no page that is new; pages by
--   their numbers, NULL where they are none of the later window
-- inputs: entering, leaving, kept_transits, changed_pages
-- parameters: none
-- output: moved_transits
-- grain: none
-- Bits of windows: 1 is the later one, 2 the earlier one.
WITH days AS (
    SELECT referrer, target, client, 1 AS windows FROM entering
    UNION ALL
    SELECT referrer, target, client, 2 AS windows FROM leaving
    UNION ALL
    SELECT referrer, target, client, 3 AS windows FROM kept_transits
),

-- Numbers first: URLs are compared with pages, and not with each other.
numbered AS (
    SELECT
        sources.page AS referrer,
        -- What is no page is told apart by its hash, as in page_transits.
        CASE WHEN sources.page IS NULL THEN hash(days.referrer) END AS stranger,
        days.referrer IS NOT NULL AS is_referred,
        targets.page AS target,
        CASE WHEN targets.page IS NULL THEN hash(days.target) END AS lost,
        days.client,
        -- Said here: asked for in a join, pages of a site would be joined with each other.
        coalesce(sources.site = targets.site, FALSE) AS is_within,
        coalesce(targets.is_new, FALSE) AS is_new_target,
        coalesce(sources.is_new, FALSE) AS is_new_referrer,
        days.windows
    FROM days
    LEFT JOIN changed_pages AS sources ON sources.url = days.referrer
    LEFT JOIN changed_pages AS targets ON targets.url = days.target
)

SELECT
    referrer,
    is_referred,
    target,
    client,
    any_value(is_within) AS is_within,
    bit_or(windows) & 1 AS is_now,
    CASE WHEN any_value(is_new_target) THEN 0 ELSE bit_or(windows) >> 1 END AS was_visit,
    CASE WHEN any_value(is_new_referrer) THEN 0 ELSE bit_or(windows) >> 1 END AS was_referral
FROM numbered
GROUP BY referrer, stranger, is_referred, target, lost, client
