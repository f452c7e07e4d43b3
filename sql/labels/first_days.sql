-- first_days: views on the first days of life, 0 on missing days, of the pages born in the last days and of every
--   so manieth page that has been seen long enough to be learned from
-- inputs: page_totals, page_views
-- parameters: known_from, known_until, young_from, least, step, day, days
-- output: first_days
-- grain: url
WITH numbered AS (
    SELECT
        site,
        url,
        birth,
        total,
        birth <= $known_until AND total >= $least AS is_known,
        row_number() OVER (
            PARTITION BY birth <= $known_until AND total >= $least
            ORDER BY site, url
        ) AS number
    FROM page_totals
    WHERE birth >= $known_from
),

chosen AS (
    SELECT *
    FROM numbered
    WHERE birth >= $young_from OR (is_known AND (number - 1) % $step = 0)
)

SELECT
    site,
    url,
    birth,
    date_diff('day', birth, $day) + 1 AS age,
    total,
    list_transform(
        range($days),
        lambda n: coalesce(list_extract(views, list_position(days, n)), 0)
    ) AS views
FROM (
    SELECT
        chosen.url,
        any_value(chosen.site) AS site,
        any_value(chosen.birth) AS birth,
        any_value(chosen.total) AS total,
        list(date_diff('day', chosen.birth, seen.day)) AS days,
        list(seen.views) AS views
    FROM page_views AS seen
    INNER JOIN chosen ON chosen.url = seen.url
    GROUP BY chosen.url
) AS found
ORDER BY site, url
