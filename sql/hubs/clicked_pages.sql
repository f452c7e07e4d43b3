-- clicked_pages: the pages from which most clicks led on the last day that is there
-- inputs: transits, urls, page_totals
-- parameters: most
-- output: clicked_pages
-- grain: url
WITH clicks AS (
    SELECT day, referrer, count(*) AS clicks
    FROM transits
    WHERE referrer IS NOT NULL
    GROUP BY day, referrer
),

placed AS (
    SELECT
        urls.url,
        clicks.clicks,
        row_number() OVER (ORDER BY clicks.clicks DESC, urls.url) - 1 AS page
    FROM clicks
    INNER JOIN urls ON urls.day = clicks.day AND urls.number = clicks.referrer
    INNER JOIN page_totals ON page_totals.url = urls.url
)

SELECT page, url, TRUE AS is_opened, clicks
FROM placed
WHERE page < $most
ORDER BY page
