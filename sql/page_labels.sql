-- page_labels: temporal by the interest curve (TW 4.2), news by concentration (NP 4.1)
-- inputs: interest_curves, page_histories
-- parameters: day, first, observed, n, q, m, p
-- output: page_labels
-- grain: url
SELECT
    $day AS day,
    site,
    url,
    coalesce(phi_n > $q, FALSE) AS is_temporal,
    coalesce(phi_n_low > $q OR phi_n_high <= $q, FALSE) AS is_sure,
    concentration > $p AND has_concentration AS is_news,
    phi_n,
    concentration,
    has_concentration,
    $n AS n,
    $q AS q,
    $m AS m,
    $p AS p
FROM (
    SELECT
        lives.site,
        lives.url,
        curves.phi_n,
        curves.phi_n_low,
        curves.phi_n_high,
        lives.days > lives.first_days AS has_concentration,
        CASE
            WHEN lives.days > lives.first_days
                THEN (CAST(lives.first_views AS DOUBLE) / CAST(lives.total AS DOUBLE))
                    / (CAST(lives.first_days AS DOUBLE) / CAST(lives.days AS DOUBLE))
            ELSE CAST(1 AS DOUBLE)
        END AS concentration
    FROM (
        SELECT
            site,
            url,
            total,
            CAST(list_sum(list_slice(views, born, born + $m - 1)) AS BIGINT) AS first_views,
            length(replace(substr($observed, born, $m), '0', '')) AS first_days,
            length(replace(substr($observed, born), '0', '')) AS days
        FROM (
            SELECT site, url, total, views, date_diff('day', $first, birth) + 1 AS born
            FROM page_histories
        )
    ) AS lives
    INNER JOIN interest_curves AS curves ON curves.url = lives.url
)
ORDER BY site, url
