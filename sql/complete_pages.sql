-- complete_pages: reliable pages seen long enough for their labels to be relied on
-- inputs: page_histories, page_labels
-- parameters: first, born_from, born_until, most
-- output: complete_pages
-- grain: url
SELECT
    histories.site,
    histories.url,
    date_diff('day', $first, histories.birth) AS born,
    histories.views,
    labels.is_temporal,
    labels.q,
    labels.m,
    labels.p
FROM page_histories AS histories
INNER JOIN page_labels AS labels ON labels.url = histories.url
WHERE
    NOT histories.is_born_before
    AND histories.birth >= $born_from
    AND histories.birth <= $born_until
    AND labels.phi_n IS NOT NULL
ORDER BY md5(histories.url), histories.url
LIMIT $most
