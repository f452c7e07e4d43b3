-- timely_pages: translated from sql/crawls/timely_pages.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: crawled_sites, interest_curves, known_histories, page_histories, page_labels
-- parameters: born_from, born_until, first, section
WITH sections AS (
  SELECT
    REGEXP_EXTRACT(url, :section) AS section,
    AVG(CAST(total AS DOUBLE)) AS views
  FROM {known_histories} AS known_histories
  WHERE
    NOT is_born_before
  GROUP BY
    1
), known AS (
  SELECT
    AVG(CAST(total AS DOUBLE)) AS views
  FROM {known_histories} AS known_histories
)
SELECT
  lives.url,
  lives.birth,
  lives.total,
  GET(lives.views, (
    DATEDIFF(DAY, :first, lives.birth) + 1
  ) - 1) AS one_day,
  GET(lives.views, (
    DATEDIFF(DAY, :first, lives.birth) + 1
  ) - 1) + COALESCE(GET(lives.views, (
    DATEDIFF(DAY, :first, lives.birth) + 2
  ) - 1), 0) + COALESCE(GET(lives.views, (
    DATEDIFF(DAY, :first, lives.birth) + 3
  ) - 1), 0) AS three_days,
  curves.b,
  curves.mu,
  curves.sigma,
  labels.is_temporal,
  COALESCE(sections.views, known.views, 0) AS expected
FROM {page_histories} AS lives
INNER JOIN {interest_curves} AS curves
  ON curves.url = lives.url
INNER JOIN {page_labels} AS labels
  ON labels.url = lives.url
INNER JOIN {crawled_sites} AS crawled_sites
  ON crawled_sites.site = lives.site
CROSS JOIN known
LEFT JOIN sections
  ON sections.section = REGEXP_EXTRACT(lives.url, :section)
WHERE
  lives.birth >= :born_from
  AND lives.birth <= :born_until
  AND NOT lives.is_born_before
ORDER BY
  lives.url NULLS LAST
