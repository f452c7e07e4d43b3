-- young_pages: views of pages born in the last days, by day of their life; missing days left out
-- inputs: page_totals, page_views
-- parameters: born_from, observed, days, section
-- output: young_pages
-- grain: url
SELECT
    totals.site,
    totals.url,
    regexp_extract(totals.url, $section, 1) AS section,
    totals.birth,
    length(
        replace(substr($observed, date_diff('day', $born_from, totals.birth) + 1), '0', '')
    ) AS age,
    totals.total,
    list_transform(
        range($days),
        lambda n: coalesce(list_extract(found.views, list_position(found.days, n)), 0)
    ) AS views
FROM page_totals AS totals
INNER JOIN (
    SELECT
        young.url,
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
) AS found ON found.url = totals.url
WHERE totals.birth >= $born_from
ORDER BY totals.site, totals.url
