-- clicked_pages: the pages from which most clicks led on some days, by default the last that is there
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
        url,
        clicks,
        row_number() OVER (ORDER BY clicks DESC, url) - 1 AS page
    FROM (
        SELECT urls.url, CAST(sum(clicks.clicks) AS BIGINT) AS clicks
        FROM clicks
        INNER JOIN urls ON urls.day = clicks.day AND urls.number = clicks.referrer
        INNER JOIN page_totals ON page_totals.url = urls.url
        GROUP BY urls.url
    )
)

SELECT page, url, TRUE AS is_opened, clicks
FROM placed
WHERE page < $most
ORDER BY page
