-- timely_pages: reliable pages of some sites born within some days, with their interest and what
--   pages of their section drew before
-- inputs: page_histories, interest_curves, page_labels, known_histories, crawled_sites
-- parameters: first, born_from, born_until, section
-- output: timely_pages
-- grain: url
WITH sections AS (
    SELECT
        regexp_extract(url, $section, 1) AS section,
        avg(CAST(total AS DOUBLE)) AS views
    FROM known_histories
    WHERE NOT is_born_before
    GROUP BY 1
),

known AS (
    SELECT avg(CAST(total AS DOUBLE)) AS views
    FROM known_histories
)

SELECT
    lives.url,
    lives.birth,
    lives.total,
    list_extract(lives.views, date_diff('day', $first, lives.birth) + 1) AS one_day,
    list_extract(lives.views, date_diff('day', $first, lives.birth) + 1)
    + coalesce(list_extract(lives.views, date_diff('day', $first, lives.birth) + 2), 0)
    + coalesce(list_extract(lives.views, date_diff('day', $first, lives.birth) + 3), 0)
        AS three_days,
    curves.b,
    curves.mu,
    curves.sigma,
    labels.is_temporal,
    coalesce(sections.views, known.views, 0) AS expected
FROM page_histories AS lives
INNER JOIN interest_curves AS curves ON curves.url = lives.url
INNER JOIN page_labels AS labels ON labels.url = lives.url
INNER JOIN crawled_sites ON crawled_sites.site = lives.site
CROSS JOIN known
LEFT JOIN sections ON sections.section = regexp_extract(lives.url, $section, 1)
WHERE lives.birth >= $born_from AND lives.birth <= $born_until AND NOT lives.is_born_before
ORDER BY lives.url
