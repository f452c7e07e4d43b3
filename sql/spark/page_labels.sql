-- page_labels: translated from sql/labels/page_labels.sql (edit that) by
-- `python -m temporal_assets.engines.spark.translation`
-- inputs: calibration, interest_curves, page_histories
-- parameters: calibrated, cut_part, day, days, first, least_days, m, n, n_days, p, q, rule, section, seen_before
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
  CASE label_basis
    WHEN 'share'
    THEN first_share > q
    WHEN 'cut_share'
    THEN first_share > cut_q
    WHEN 'concentration'
    THEN concentration > p
    WHEN 'none'
    THEN FALSE
    ELSE phi_n > q
  END AS is_temporal,
  label_basis,
  CASE label_basis
    WHEN 'share'
    THEN (
      first_share - q
    ) * (
      first_share - q
    ) > 3.8415 * q * (
      1 - q
    ) / total
    WHEN 'cut_share'
    THEN CASE
      WHEN first_share > cut_q
      THEN COALESCE(phi_n_low > q, FALSE)
      ELSE COALESCE(phi_n_high <= q, FALSE)
    END
    WHEN 'concentration'
    THEN (
      m_share - m_cut
    ) * (
      m_share - m_cut
    ) > 3.8415 * m_cut * (
      1 - m_cut
    ) / total
    WHEN 'none'
    THEN FALSE
    ELSE COALESCE(phi_n_low > q OR phi_n_high <= q, FALSE)
  END AS is_sure,
  COALESCE(phi_n > q, FALSE) AS is_temporal_by_curve,
  concentration > p AND has_concentration AS is_news,
  first_share,
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
    lives.total,
    lives.q,
    lives.q + (
      1 - lives.q
    ) / :cut_part AS cut_q,
    lives.m,
    lives.p,
    lives.thresholds,
    curves.phi_n,
    curves.phi_n_low,
    curves.phi_n_high,
    CAST(lives.n_views AS DOUBLE) / CAST(lives.total AS DOUBLE) AS first_share,
    CAST(lives.m_views AS DOUBLE) / CAST(lives.total AS DOUBLE) AS m_share,
    lives.p * CAST(lives.m_days AS DOUBLE) / CAST(lives.days AS DOUBLE) AS m_cut,
    lives.days > lives.m_days AS has_concentration,
    CASE
      WHEN :rule = 'concentration' AND lives.days > lives.m_days
      THEN 'concentration'
      WHEN :rule = 'concentration'
      THEN 'none'
      WHEN :rule = 'observed' AND lives.age >= :least_days AND lives.days > lives.n_days
      THEN CASE WHEN lives.is_born_before THEN 'cut_share' ELSE 'share' END
      WHEN curves.phi_n IS NULL
      THEN 'none'
      WHEN curves.reason = 'one_day'
      THEN 'limit'
      ELSE 'curve'
    END AS label_basis,
    CASE
      WHEN lives.days > lives.m_days
      THEN (
        CAST(lives.m_views AS DOUBLE) * CAST(lives.days AS DOUBLE)
      ) / (
        CAST(lives.total AS DOUBLE) * CAST(lives.m_days AS DOUBLE)
      )
      ELSE CAST(1 AS DOUBLE)
    END AS concentration
  FROM (
    SELECT
      site,
      url,
      total,
      is_born_before,
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
      ) AS BIGINT) AS m_views,
      CAST(AGGREGATE(
        SLICE(views, born, GREATEST((
          born + CAST(:n_days AS INT) - 1
        ) - born + 1, 0)),
        CAST(NULL AS BIGINT),
        (s, v) -> COALESCE(s, 0) + v
      ) AS BIGINT) AS n_views,
      GET(seen_before, (
        LEAST(born + m, :days + 1)
      ) - 1) - GET(seen_before, born - 1) AS m_days,
      GET(seen_before, (
        LEAST(born + CAST(:n_days AS INT), :days + 1)
      ) - 1) - GET(seen_before, born - 1) AS n_days,
      GET(seen_before, (
        :days + 1
      ) - 1) - GET(seen_before, born - 1) AS days,
      :days + 1 - born AS age
    FROM (
      SELECT
        CAST(SPLIT(:seen_before, CONCAT('\\Q', ',', '\\E')) AS ARRAY<BIGINT>) AS seen_before,
        pages.site,
        pages.url,
        pages.total,
        pages.views,
        pages.is_born_before,
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
