-- opened_visits: who came to each of some pages that were opened, once a day, where the pseudonyms have
--   one key: what `page_traffic` has counted already
-- inputs: candidates, page_traffic, recent_views
-- parameters: none
-- output: opened_visits
-- grain: page
SELECT
    candidates.page AS page,
    traffic.clients AS clients,
    traffic.views AS visits,
    coalesce(recent.views, 0) AS recent_visits
FROM candidates
INNER JOIN page_traffic AS traffic ON traffic.url = candidates.url
LEFT JOIN (
    SELECT url, sum(views) AS views
    FROM recent_views
    WHERE url IN (SELECT url FROM candidates)
    GROUP BY url
) AS recent ON recent.url = candidates.url
WHERE candidates.is_opened
ORDER BY page
