-- changed_pages: made from sql/changed_pages.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: earlier, entering, kept_transits, leaving, page_totals, traced_pages
-- parameters: earlier_day
WITH named AS (
  SELECT
    target AS url
  FROM {entering} AS entering
  UNION
  SELECT
    referrer AS url
  FROM {entering} AS entering
  UNION
  SELECT
    target AS url
  FROM {leaving} AS leaving
  UNION
  SELECT
    referrer AS url
  FROM {leaving} AS leaving
  UNION
  SELECT
    target AS url
  FROM {kept_transits} AS kept_transits
  UNION
  SELECT
    url
  FROM {traced_pages} AS traced_pages
)
SELECT
  ROW_NUMBER() OVER (ORDER BY totals.site NULLS LAST, totals.url NULLS LAST) - 1 AS page,
  totals.site,
  totals.url,
  totals.birth > :earlier_day AS is_new,
  COALESCE(earlier.visits, 0) AS visits,
  COALESCE(earlier.referred, 0) AS referred,
  COALESCE(earlier.referrals, 0) AS referrals,
  COALESCE(earlier.clients, 0) AS clients,
  COALESCE(earlier.few_clients, ARRAY()) AS few_clients
FROM {page_totals} AS totals
INNER JOIN named
  ON named.url = totals.url
LEFT JOIN {earlier} AS earlier
  ON earlier.url = totals.url AND totals.birth <= :earlier_day
ORDER BY
  page NULLS LAST
