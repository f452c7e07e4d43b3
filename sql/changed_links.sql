-- changed_links: how many more people, or less, went from one page to another of the same site
-- inputs: changed_pages, moved_transits
-- parameters: none
-- output: changed_links
-- grain: target, referrer
SELECT
    moved_transits.target AS target,
    moved_transits.referrer AS referrer,
    sum(is_now - CASE WHEN targets.is_new OR sources.is_new THEN 0 ELSE was_then END) AS transits
FROM moved_transits
INNER JOIN changed_pages AS targets ON targets.page = moved_transits.target
INNER JOIN changed_pages AS sources ON sources.page = moved_transits.referrer
WHERE is_within
GROUP BY moved_transits.target, moved_transits.referrer
HAVING sum(is_now - CASE WHEN targets.is_new OR sources.is_new THEN 0 ELSE was_then END) <> 0
ORDER BY moved_transits.target, moved_transits.referrer
