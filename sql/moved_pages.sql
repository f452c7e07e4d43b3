-- moved_pages: every URL that transits lead to or from which have come or gone between two windows, in
--   the order of pages
-- inputs: entering, leaving, kept_transits, traced_pages
-- parameters: site
-- output: moved_pages
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

SELECT regexp_extract(url, $site, 1) AS site, url
FROM named
WHERE url IS NOT NULL
ORDER BY site, url
