-- young_pages: views of pages born in the last days, by day of their life; missing days left out
-- inputs: page_totals, page_views
-- parameters: born_from, observed, days
-- output: young_pages
-- grain: url
SELECT
    site,
    url,
    birth,
    length(replace(substr($observed, date_diff('day', $born_from, birth) + 1), '0', '')) AS age,
    total,
    list_transform(
        range($days),
        lambda n: coalesce(list_extract(views, list_position(days, n)), 0)
    ) AS views
FROM (
    SELECT
        young.url,
        any_value(young.site) AS site,
        any_value(young.birth) AS birth,
        any_value(young.total) AS total,
        list(
            length(
                replace(
                    substr(
                        $observed,
                        date_diff('day', $born_from, young.birth) + 1,
                        date_diff('day', young.birth, seen.day)
                    ),
                    '0',
                    ''
                )
            )
        ) AS days,
        list(seen.views) AS views
    FROM page_views AS seen
    INNER JOIN page_totals AS young ON young.url = seen.url
    WHERE young.birth >= $born_from
    GROUP BY young.url
) AS found
ORDER BY site, url
