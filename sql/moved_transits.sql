-- moved_transits: distinct (referrer, target, client) that have come or gone between two windows, or
--   of which more must be known: whether each is of the later window, and whether the earlier one
--   counted it for its target and for its referrer, which it did of no page that is new; pages by
--   their numbers, NULL where they are none of the later window
-- inputs: entering, leaving, kept_transits, changed_pages
-- parameters: none
-- output: moved_transits
-- grain: none
WITH triples AS (
    SELECT
        referrer,
        target,
        client,
        max(entered) AS entered,
        max(gone) AS gone,
        max(stayed) AS stayed
    FROM (
        SELECT referrer, target, client, 1 AS entered, 0 AS gone, 0 AS stayed FROM entering
        UNION ALL
        SELECT referrer, target, client, 0 AS entered, 1 AS gone, 0 AS stayed FROM leaving
        UNION ALL
        SELECT referrer, target, client, 0 AS entered, 0 AS gone, 1 AS stayed FROM kept_transits
    ) AS days
    GROUP BY referrer, target, client
)

SELECT
    sources.page AS referrer,
    triples.referrer IS NOT NULL AS is_referred,
    targets.page AS target,
    client,
    -- Said here: asked for in a join, pages of a site would be joined with each other.
    coalesce(sources.site = targets.site, FALSE) AS is_within,
    greatest(entered, stayed) AS is_now,
    CASE WHEN targets.is_new THEN 0 ELSE greatest(gone, stayed) END AS was_visit,
    CASE WHEN sources.is_new THEN 0 ELSE greatest(gone, stayed) END AS was_referral
FROM triples
LEFT JOIN changed_pages AS sources ON sources.url = triples.referrer
LEFT JOIN changed_pages AS targets ON targets.url = triples.target
