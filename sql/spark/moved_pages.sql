-- moved_pages: translated from sql/moved_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: entering, kept_transits, leaving, traced_pages
-- parameters: site
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
  REGEXP_EXTRACT(url, :site) AS site,
  url
FROM named
WHERE
  NOT url IS NULL
ORDER BY
  site NULLS LAST,
  url NULLS LAST
