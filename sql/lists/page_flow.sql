-- page_flow: the pages born in the observed part of the window, and what each turned out to be: its
--   label, or while it is young the probability of it; pages with few views count only while young,
--   because later nothing is known of them; in thousandths, so that sums do not depend on order
-- inputs: page_histories, page_labels, early_labels
-- parameters: day, flow_from, least_views
-- output: page_flow
-- grain: url
WITH young AS (
    SELECT site, url, birth, total, probability
    FROM early_labels
    WHERE birth >= $flow_from
),

reliable AS (
    SELECT page_histories.site, page_histories.url, birth, total, is_temporal, label_basis
    FROM page_histories
    INNER JOIN page_labels ON page_labels.url = page_histories.url
    WHERE birth >= $flow_from
),

pages AS (
    SELECT
        reliable.site,
        reliable.url,
        reliable.birth,
        reliable.total,
        TRUE AS is_reliable,
        CASE WHEN young.probability IS NULL THEN 'label' ELSE 'early' END AS basis,
        CASE
            WHEN young.probability IS NOT NULL THEN young.probability
            -- Too young for a label, and nothing was learned of young pages.
            WHEN young.url IS NOT NULL AND label_basis = 'none' THEN NULL
            WHEN reliable.is_temporal THEN 1.0
            ELSE 0.0
        END AS temporal
    FROM reliable
    LEFT JOIN young ON young.url = reliable.url
    UNION ALL
    SELECT
        young.site,
        young.url,
        young.birth,
        young.total,
        FALSE AS is_reliable,
        'early' AS basis,
        young.probability AS temporal
    FROM young
    LEFT JOIN reliable ON reliable.url = young.url
    WHERE reliable.url IS NULL AND young.total >= $least_views
)

SELECT
    $day AS day,
    site,
    url,
    birth,
    total AS views,
    is_reliable,
    CAST(floor(1000 * CAST(temporal AS DOUBLE) + 0.5) AS DOUBLE) / 1000 AS temporal,
    basis
FROM pages
WHERE temporal IS NOT NULL
ORDER BY site, url
