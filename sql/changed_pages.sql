-- changed_pages: the pages of a window that transits lead to or from which have come or gone since the
--   window before, numbered in the order of sites and URLs, with what was known of them then
-- inputs: page_totals, earlier, entering, leaving, kept_transits, traced_pages
-- parameters: earlier_day
-- output: changed_pages
-- grain: url
WITH named AS (
    SELECT target AS url FROM entering
    UNION
    SELECT referrer AS url FROM entering
    UNION
    SELECT target AS url FROM leaving
    UNION
    SELECT referrer AS url FROM leaving
    UNION
    SELECT target AS url FROM kept_transits
    UNION
    SELECT url FROM traced_pages
)

SELECT
    row_number() OVER (ORDER BY totals.site, totals.url) - 1 AS page,
    totals.site,
    totals.url,
    totals.birth > $earlier_day AS is_new,
    coalesce(earlier.visits, 0) AS visits,
    coalesce(earlier.referred, 0) AS referred,
    coalesce(earlier.referrals, 0) AS referrals,
    coalesce(earlier.clients, 0) AS clients,
    coalesce(earlier.few_clients, []) AS few_clients
FROM page_totals AS totals
INNER JOIN named ON named.url = totals.url
-- Nothing that was counted of a page whose days have all left is still true.
LEFT JOIN earlier ON earlier.url = totals.url AND totals.birth <= $earlier_day
ORDER BY page
