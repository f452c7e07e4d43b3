-- page_histories: views by day of the pages that have enough of them to be relied on (TW 4.1)
-- inputs: page_totals, page_views
-- parameters: day, first, observed_from, days, least
-- output: page_histories
-- grain: url
SELECT
    $day AS day,
    pages.site,
    pages.url,
    pages.birth,
    pages.total,
    list_transform(
        range($days),
        lambda n: coalesce(list_extract(found.views, list_position(found.days, n)), 0)
    ) AS views,
    pages.birth <= $observed_from AS is_born_before
FROM page_totals AS pages
INNER JOIN (
    SELECT url, list(date_diff('day', $first, day)) AS days, list(views) AS views
    FROM page_views
    WHERE url IN (SELECT url FROM page_totals WHERE total >= $least)
    GROUP BY url
) AS found ON found.url = pages.url
ORDER BY pages.site, pages.url
