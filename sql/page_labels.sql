-- page_labels: temporal by the interest curve (TW 4.2), news by concentration (NP 4.1)
-- inputs: calibration, interest_curves, page_histories
-- parameters: day, first, days, seen_before, calibrated, section, n, q, m, p
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
    coalesce(phi_n > q, FALSE) AS is_temporal,
    coalesce(phi_n_low > q OR phi_n_high <= q, FALSE) AS is_sure,
    concentration > p AND has_concentration AS is_news,
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
                -- Of whole numbers, and rounded once: what is a threshold exactly is not above it.
                THEN (CAST(lives.first_views AS DOUBLE) * CAST(lives.days AS DOUBLE))
                    / (CAST(lives.total AS DOUBLE) * CAST(lives.first_days AS DOUBLE))
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
            CAST(list_sum(list_slice(views, born, born + m - 1)) AS BIGINT) AS first_views,
            list_extract(seen_before, least(born + m, $days + 1))
                - list_extract(seen_before, born) AS first_days,
            list_extract(seen_before, $days + 1) - list_extract(seen_before, born) AS days
        FROM (
            SELECT
                -- Of the window's days, how many are there before each, and in all.
                CAST(string_split($seen_before, ',') AS BIGINT[]) AS seen_before,
                pages.site,
                pages.url,
                pages.total,
                pages.views,
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
