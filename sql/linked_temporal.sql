-- linked_temporal: the temporal pages that transits lead to, with what is known of interest in them
-- inputs: link_pages, page_labels, page_histories, interest_curves
-- parameters: day
-- output: linked_temporal
-- grain: page
SELECT
    pages.page,
    lives.total AS views,
    CASE WHEN NOT lives.is_born_before THEN date_diff('day', lives.birth, $day) END AS age,
    curves.mu
FROM page_labels AS labels
INNER JOIN link_pages AS pages ON pages.url = labels.url
INNER JOIN page_histories AS lives ON lives.url = labels.url
INNER JOIN interest_curves AS curves ON curves.url = labels.url
WHERE labels.is_temporal
ORDER BY pages.page
