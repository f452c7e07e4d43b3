-- page_labels: whether each page is temporal, by the rule of the settings and by each paper's own (TW 4.2, NP 4.1)
-- inputs: calibration, interest_curves, page_histories
-- parameters: day, first, days, seen_before, calibrated, section, rule, n, n_days, least_days, cut_part, q, m, p
-- output: page_labels
-- grain: url
WITH used AS (
    SELECT
        scope,
        name,
        max(CASE WHEN score = 'interest' THEN threshold END) AS q,
        max(CASE WHEN score = 'concentration' THEN days END) AS m,
        max(CASE WHEN score = 'concentration' THEN threshold END) AS p
    FROM calibration
    WHERE is_used AND $calibrated
    GROUP BY scope, name
)

SELECT
    $day AS day,
    site,
    url,
    CASE label_basis
        WHEN 'share' THEN first_share > q
        WHEN 'cut_share' THEN first_share > cut_q
        WHEN 'concentration' THEN concentration > p
        WHEN 'none' THEN FALSE
        ELSE phi_n > q
    END AS is_temporal,
    label_basis,
    CASE label_basis
        -- The threshold is outside of the share's 95 % interval (Wilson): 3.8415 is 1.96 squared.
        WHEN 'share' THEN (first_share - q) * (first_share - q) > 3.8415 * q * (1 - q) / total
        -- The share of a cut life looks as exact as any other: the curve must be sure of the same.
        WHEN 'cut_share' THEN CASE
            WHEN first_share > cut_q THEN coalesce(phi_n_low > q, FALSE)
            ELSE coalesce(phi_n_high <= q, FALSE)
        END
        WHEN 'concentration' THEN (m_share - m_cut) * (m_share - m_cut) > 3.8415 * m_cut * (1 - m_cut) / total
        WHEN 'none' THEN FALSE
        ELSE coalesce(phi_n_low > q OR phi_n_high <= q, FALSE)
    END AS is_sure,
    coalesce(phi_n > q, FALSE) AS is_temporal_by_curve,
    concentration > p AND has_concentration AS is_news,
    first_share,
    phi_n,
    concentration,
    has_concentration,
    $n AS n,
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
        -- Of a page that may be older than the window, views of earlier days are missing.
        lives.q + (1 - lives.q) / $cut_part AS cut_q,
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
            WHEN $rule = 'concentration' AND lives.days > lives.m_days THEN 'concentration'
            WHEN $rule = 'concentration' THEN 'none'
            WHEN $rule = 'observed' AND lives.age >= $least_days AND lives.days > lives.n_days
                THEN CASE WHEN lives.is_born_before THEN 'cut_share' ELSE 'share' END
            WHEN curves.phi_n IS NULL THEN 'none'
            WHEN curves.reason = 'one_day' THEN 'limit'
            ELSE 'curve'
        END AS label_basis,
        CASE
            WHEN lives.days > lives.m_days
                -- Of whole numbers, and rounded once: what is a threshold exactly is not above it.
                THEN (CAST(lives.m_views AS DOUBLE) * CAST(lives.days AS DOUBLE))
                    / (CAST(lives.total AS DOUBLE) * CAST(lives.m_days AS DOUBLE))
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
            CAST(list_sum(list_slice(views, born, born + m - 1)) AS BIGINT) AS m_views,
            CAST(list_sum(list_slice(views, born, born + CAST($n_days AS INTEGER) - 1)) AS BIGINT) AS n_views,
            list_extract(seen_before, least(born + m, $days + 1))
                - list_extract(seen_before, born) AS m_days,
            list_extract(seen_before, least(born + CAST($n_days AS INTEGER), $days + 1))
                - list_extract(seen_before, born) AS n_days,
            list_extract(seen_before, $days + 1) - list_extract(seen_before, born) AS days,
            $days + 1 - born AS age
        FROM (
            SELECT
                -- Of the window's days, how many are there before each, and in all.
                CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before,
                pages.site,
                pages.url,
                pages.total,
                pages.views,
                pages.is_born_before,
                CAST(date_diff('day', $first, pages.birth) + 1 AS INTEGER) AS born,
                coalesce(section.q, site.q, everywhere.q, $q) AS q,
                CAST(coalesce(section.m, site.m, everywhere.m, $m) AS INTEGER) AS m,
                coalesce(section.p, site.p, everywhere.p, $p) AS p,
                coalesce(section.scope, site.scope, everywhere.scope, 'settings') AS thresholds
            FROM page_histories AS pages
            LEFT JOIN used AS section
                ON section.scope = 'section'
                AND section.name = regexp_extract(pages.url, $section, 1)
            LEFT JOIN used AS site ON site.scope = 'site' AND site.name = pages.site
            LEFT JOIN used AS everywhere ON everywhere.scope = 'all'
        )
    ) AS lives
    INNER JOIN interest_curves AS curves ON curves.url = lives.url
)
ORDER BY site, url
