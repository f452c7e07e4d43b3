-- known_pages: the labels of a window with the views behind them
-- inputs: page_labels, page_histories
-- parameters: none
-- output: known_pages
-- grain: url
SELECT labels.url, lives.total, labels.is_temporal, labels.is_news
FROM page_labels AS labels
INNER JOIN page_histories AS lives ON lives.url = labels.url
ORDER BY labels.url
