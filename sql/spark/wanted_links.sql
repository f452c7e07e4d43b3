-- wanted_links: made from sql/wanted_links.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: transits, wanted
-- parameters: none
SELECT DISTINCT
  transits.referrer,
  wanted.page AS target
FROM {transits} AS transits
INNER JOIN {wanted} AS wanted
  ON wanted.url = transits.target
WHERE
  NOT transits.referrer IS NULL
ORDER BY
  referrer NULLS LAST,
  target NULLS LAST
