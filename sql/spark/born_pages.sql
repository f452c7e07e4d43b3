-- born_pages: translated from sql/evaluation/born_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: known_labels, page_histories
-- parameters: born_from, born_until, m, n, p, q, section, sites_until
WITH known AS (
  SELECT
    CASE WHEN thresholds IN ('section', 'site') THEN thresholds ELSE 'all' END AS scope,
    CASE
      WHEN thresholds = 'section'
      THEN REGEXP_EXTRACT(url, :section)
      WHEN thresholds = 'site'
      THEN site
      ELSE ''
    END AS name,
    n,
    q,
    m,
    p
  FROM {known_labels} AS known_labels
), used AS (
  SELECT
    scope,
    name,
    MAX(n) AS n,
    MAX(q) AS q,
    MAX(m) AS m,
    MAX(p) AS p
  FROM known
  GROUP BY
    scope,
    name
)
SELECT
  lives.url,
  lives.total,
  lives.birth,
  lives.views,
  COALESCE(section.n, site.n, everywhere.n, :n) AS n,
  COALESCE(section.q, site.q, everywhere.q, :q) AS q,
  COALESCE(section.m, site.m, everywhere.m, :m) AS m,
  COALESCE(section.p, site.p, everywhere.p, :p) AS p
FROM {page_histories} AS lives
LEFT JOIN used AS section
  ON section.scope = 'section' AND section.name = REGEXP_EXTRACT(lives.url, :section)
LEFT JOIN used AS site
  ON site.scope = 'site' AND site.name = lives.site
LEFT JOIN used AS everywhere
  ON everywhere.scope = 'all'
WHERE
  lives.birth >= :born_from
  AND lives.birth <= :born_until
  AND NOT lives.is_born_before
  AND MD5(lives.site) <= :sites_until
ORDER BY
  lives.url NULLS LAST
