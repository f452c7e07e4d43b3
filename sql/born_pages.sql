-- born_pages: pages of a window that were born within some of its days, with their views by day
--   and the thresholds of their labels, of the sites that were drawn
-- inputs: page_histories, page_labels
-- parameters: born_from, born_until, sites_until
-- output: born_pages
-- grain: url
SELECT
    lives.url,
    lives.total,
    lives.views,
    labels.q,
    labels.m,
    labels.p
FROM page_histories AS lives
INNER JOIN page_labels AS labels ON labels.url = lives.url
WHERE
    lives.birth >= $born_from
    AND lives.birth <= $born_until
    AND NOT lives.is_born_before
    AND md5(lives.site) <= $sites_until
ORDER BY lives.url
