-- changed_links: made from sql/changed_links.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: moved_transits
-- parameters: none
SELECT
  target,
  referrer,
  SUM(is_now - LEAST(was_visit, was_referral)) AS transits
FROM {moved_transits} AS moved_transits
WHERE
  is_within
GROUP BY
  target,
  referrer
HAVING
  SUM(is_now - LEAST(was_visit, was_referral)) <> 0
ORDER BY
  target NULLS LAST,
  referrer NULLS LAST
