-- wanted_pages: the pages that hubs are to lead to: temporal ones, and those too young for a label with
--   the probability that they are (in millionths); on which day of the window each was born (-1 where
--   nobody knows), and of temporal pages that are complete, how many views the first days had
-- inputs: page_labels, page_histories, early_labels
-- parameters: first, known_births, least_views, complete_days
-- output: wanted_pages
-- grain: url
WITH temporal AS (
    SELECT lives.url, lives.birth, lives.total, lives.views
    FROM page_labels AS labels
    INNER JOIN page_histories AS lives ON lives.url = labels.url
    WHERE labels.is_temporal
),

young AS (
    SELECT
        url,
        birth,
        CAST(round(coalesce(probability, 0.5) * 1000000) AS BIGINT) AS worth
    FROM early_labels
    WHERE total >= $least_views
),

pages AS (
    SELECT
        coalesce(temporal.url, young.url) AS url,
        date_diff('day', $first, coalesce(temporal.birth, young.birth)) AS birth,
        coalesce(young.worth, 1000000) AS worth,
        temporal.url IS NOT NULL AS is_temporal,
        coalesce(temporal.total, 0) AS views,
        temporal.views AS by_day
    FROM temporal
    FULL OUTER JOIN young ON young.url = temporal.url
),

known AS (
    SELECT
        *,
        substr($known_births, birth + 1, 1) = '1' AS is_known,
        is_temporal
        AND substr($known_births, birth + 1, 1) = '1'
        AND birth + $complete_days <= length($known_births) AS is_complete
    FROM pages
)

SELECT
    url,
    worth,
    is_temporal,
    CASE WHEN is_known THEN birth ELSE -1 END AS born,
    views,
    CASE WHEN is_complete THEN list_extract(by_day, birth + 1) ELSE 0 END AS one_day,
    CASE
        WHEN is_complete
            THEN list_extract(by_day, birth + 1) + coalesce(list_extract(by_day, birth + 2), 0)
        ELSE 0
    END AS two_days,
    CASE
        WHEN is_complete
            THEN
                list_extract(by_day, birth + 1)
                + coalesce(list_extract(by_day, birth + 2), 0)
                + coalesce(list_extract(by_day, birth + 3), 0)
        ELSE 0
    END AS three_days,
    CASE WHEN is_complete THEN views ELSE 0 END AS all_days
FROM known
ORDER BY url
