-- numbered_transits: transits of the window that lead to some pages, pages by their numbers: URLs are
--   compared here and nowhere after; by target, client and referrer, so that equal ones lie together
-- inputs: transits, page_numbers
-- parameters: first_page, last_page
-- output: numbered_transits
-- grain: none
SELECT
    -- Referrers that are no pages are less than 0 and made of a hash, as in page_transits.
    CASE
        WHEN transits.referrer IS NOT NULL
            THEN coalesce(
                sources.page,
                -1 - abs(CAST(hash(transits.referrer, 'four' || transits.referrer) >> 1 AS BIGINT))
            )
    END AS referrer,
    targets.page AS target,
    transits.client
FROM transits
INNER JOIN page_numbers AS targets ON targets.url = transits.target
LEFT JOIN page_numbers AS sources ON sources.url = transits.referrer
-- Days lie in the order of targets: what is beyond these pages is passed over.
WHERE targets.page BETWEEN $first_page AND $last_page
ORDER BY target, client, referrer NULLS FIRST
