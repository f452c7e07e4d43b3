-- page_histories_onward: the same as page_histories, from those of an earlier window: what they
--   hold is moved, the days that have entered since are added, and only pages that were not
--   reliable then are looked up in all days of the window (page_views)
-- inputs: earlier, entering, page_totals, page_views
-- parameters: day, first, observed_from, days, least, moved
-- output: page_histories
-- grain: url
WITH reliable AS (
    SELECT site, url, birth, total FROM page_totals WHERE total >= $least
),
found AS (
    SELECT url, list(date_diff('day', $first, day)) AS days, list(views) AS views
    FROM (
        SELECT url, day, views
        FROM page_views
        WHERE url IN (SELECT url FROM reliable WHERE url NOT IN (SELECT url FROM earlier))
        UNION ALL
        SELECT url, day, views
        FROM entering
        WHERE url IN (SELECT url FROM reliable WHERE url IN (SELECT url FROM earlier))
    ) AS daily
    GROUP BY url
)
SELECT
    $day AS day,
    reliable.site,
    reliable.url,
    reliable.birth,
    reliable.total,
    CASE
        WHEN earlier.url IS NULL THEN
            list_transform(
                range($days),
                lambda n: coalesce(list_extract(found.views, list_position(found.days, n)), 0)
            )
        ELSE
            list_concat(
                list_slice(earlier.views, $moved + 1, $days),
                list_transform(
                    range($days - $moved, $days),
                    lambda n: coalesce(list_extract(found.views, list_position(found.days, n)), 0)
                )
            )
    END AS views,
    reliable.birth <= $observed_from AS is_born_before
FROM reliable
LEFT JOIN earlier ON earlier.url = reliable.url
LEFT JOIN found ON found.url = reliable.url
ORDER BY reliable.site, reliable.url
