-- page_links: the links that matter (NP 4.2: some transit leads there): those to pages that are
--   wanted, and all that lead from seeds, whose second hop may be wanted
-- inputs: transits, wanted, seeds
-- parameters: none
-- output: page_links
-- grain: referrer, target
SELECT DISTINCT referrer, target
FROM transits
WHERE
    referrer IS NOT NULL
    AND (
        target IN (SELECT url FROM wanted)
        OR referrer IN (SELECT url FROM seeds)
    )
ORDER BY referrer, target
