-- page_labels: made from sql/page_labels.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: calibration, interest_curves, page_histories
-- parameters: calibrated, day, days, first, m, n, p, q, section, seen_before
WITH used AS (
  SELECT
    scope,
    name,
    MAX(CASE WHEN score = 'interest' THEN threshold END) AS q,
    MAX(CASE WHEN score = 'concentration' THEN days END) AS m,
    MAX(CASE WHEN score = 'concentration' THEN threshold END) AS p
  FROM {calibration} AS calibration
  WHERE
    is_used AND :calibrated
  GROUP BY
    scope,
    name
)
SELECT
  :day AS day,
  site,
  url,
  COALESCE(phi_n > q, FALSE) AS is_temporal,
  COALESCE(phi_n_low > q OR phi_n_high <= q, FALSE) AS is_sure,
  concentration > p AND has_concentration AS is_news,
  phi_n,
  concentration,
  has_concentration,
  :n AS n,
  q,
  m,
  p,
  thresholds
FROM (
  SELECT
    lives.site,
    lives.url,
    lives.q,
    lives.m,
    lives.p,
    lives.thresholds,
    curves.phi_n,
    curves.phi_n_low,
    curves.phi_n_high,
    lives.days > lives.first_days AS has_concentration,
    CASE
      WHEN lives.days > lives.first_days
      THEN (
        CAST(lives.first_views AS DOUBLE) * CAST(lives.days AS DOUBLE)
      ) / (
        CAST(lives.total AS DOUBLE) * CAST(lives.first_days AS DOUBLE)
      )
      ELSE CAST(1 AS DOUBLE)
    END AS concentration
  FROM (
    SELECT
      site,
      url,
      total,
      q,
      m,
      p,
      thresholds,
      CAST(AGGREGATE(
        SLICE(views, born, GREATEST((
          born + m - 1
        ) - born + 1, 0)),
        CAST(NULL AS BIGINT),
        (s, v) -> COALESCE(s, 0) + v
      ) AS BIGINT) AS first_views,
      GET(seen_before, (
        LEAST(born + m, :days + 1)
      ) - 1) - GET(seen_before, born - 1) AS first_days,
      GET(seen_before, (
        :days + 1
      ) - 1) - GET(seen_before, born - 1) AS days
    FROM (
      SELECT
        CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before,
        pages.site,
        pages.url,
        pages.total,
        pages.views,
        CAST(DATEDIFF(DAY, :first, pages.birth) + 1 AS INT) AS born,
        COALESCE(section.q, site.q, everywhere.q, :q) AS q,
        CAST(COALESCE(section.m, site.m, everywhere.m, :m) AS INT) AS m,
        COALESCE(section.p, site.p, everywhere.p, :p) AS p,
        COALESCE(section.scope, site.scope, everywhere.scope, 'settings') AS thresholds
      FROM {page_histories} AS pages
      LEFT JOIN used AS section
        ON section.scope = 'section' AND section.name = REGEXP_EXTRACT(pages.url, :section)
      LEFT JOIN used AS site
        ON site.scope = 'site' AND site.name = pages.site
      LEFT JOIN used AS everywhere
        ON everywhere.scope = 'all'
    )
  ) AS lives
  INNER JOIN {interest_curves} AS curves
    ON curves.url = lives.url
)
ORDER BY
  site NULLS LAST,
  url NULLS LAST
