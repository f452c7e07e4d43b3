-- changed_links: how many more people, or less, went from one page to another of the same site
-- inputs: moved_transits
-- parameters: none
-- output: changed_links
-- grain: target, referrer
SELECT target, referrer, sum(is_now - least(was_visit, was_referral)) AS transits
FROM moved_transits
WHERE is_within
GROUP BY target, referrer
HAVING sum(is_now - least(was_visit, was_referral)) <> 0
ORDER BY target, referrer
