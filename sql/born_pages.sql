-- born_pages: pages of a window that were born within some of its days, with their views by day,
--   of the sites that were drawn
-- inputs: page_histories
-- parameters: born_from, born_until, sites_until
-- output: born_pages
-- grain: url
SELECT url, total, views
FROM page_histories
WHERE
    birth >= $born_from
    AND birth <= $born_until
    AND NOT is_born_before
    AND md5(site) <= $sites_until
ORDER BY url
