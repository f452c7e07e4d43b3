-- known_pages: the labels of a window with the views behind them, and whether a page is old enough to
--   have them: a younger one has no curve, or no concentration above p whatever its views are; of
--   the sites that were drawn
-- inputs: page_labels, page_histories
-- parameters: sites_until
-- output: known_pages
-- grain: url
SELECT
    labels.url,
    lives.total,
    labels.is_temporal,
    labels.is_news,
    labels.phi_n IS NOT NULL AS has_temporal,
    labels.is_news OR date_diff('day', lives.birth, labels.day) + 1 > labels.m * labels.p
        AS has_news
FROM page_labels AS labels
INNER JOIN page_histories AS lives ON lives.url = labels.url
WHERE md5(labels.site) <= $sites_until
ORDER BY labels.url
