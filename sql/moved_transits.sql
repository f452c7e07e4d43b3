-- moved_transits: transits that have come or gone between two windows, or of which more must be known,
--   with numbers for URLs: a changed page's, or less than 0 and made of a hash, which tells apart what
--   is none, as in page_transits; by target, client and referrer, so that equal ones lie together
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
)

SELECT
    CASE
        WHEN days.referrer IS NOT NULL
            THEN coalesce(
                sources.page,
                -1 - abs(CAST(hash(days.referrer, 'four' || days.referrer) >> 1 AS BIGINT))
            )
    END AS referrer,
    coalesce(
        targets.page, -1 - abs(CAST(hash(days.target, 'four' || days.target) >> 1 AS BIGINT))
    ) AS target,
    days.client,
    days.windows
FROM days
LEFT JOIN changed_pages AS sources ON sources.url = days.referrer
LEFT JOIN changed_pages AS targets ON targets.url = days.target
ORDER BY target, client, referrer NULLS FIRST
