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

named AS (
    SELECT
        urls.url,
        max(CASE WHEN urls.is_opened THEN 1 ELSE 0 END) AS is_opened,
        CAST(sum(clicks.clicks) AS BIGINT) AS clicks
    FROM clicks
    INNER JOIN urls ON urls.day = clicks.day AND urls.number = clicks.referrer
    GROUP BY urls.url
),

-- What was opened on one of the days is a page: URLs after the last that is needed are looked for
-- among no pages.
foremost AS (
    SELECT url, clicks
    FROM (
        SELECT url, clicks, sum(is_opened) OVER (ORDER BY clicks DESC, url) AS opened
        FROM named
    ) AS counted
    WHERE opened <= $most
),

placed AS (
    SELECT
        foremost.url,
        pages.number,
        foremost.clicks,
        row_number() OVER (ORDER BY foremost.clicks DESC, foremost.url) - 1 AS page
    FROM foremost
    INNER JOIN page_totals AS pages ON pages.url = foremost.url
)

SELECT page, url, number, clicks
FROM placed
WHERE page < $most
ORDER BY page
