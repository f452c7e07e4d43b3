-- migrate_page_labels_from_1: labels as they were stored before they said where thresholds are from
-- inputs: page_labels
-- parameters: none
-- output: page_labels
-- grain: url
-- Version 1 knew no calibration: its thresholds are those of the settings.
-- The curve had decided, and the share was not kept.
SELECT
    day,
    site,
    url,
    is_temporal,
    CASE WHEN phi_n IS NULL THEN 'none' ELSE 'curve' END AS label_basis,
    is_sure,
    is_temporal AS is_temporal_by_curve,
    is_news,
    CAST(NULL AS DOUBLE) AS first_share,
    phi_n,
    concentration,
    has_concentration,
    n,
    q,
    m,
    p,
    'settings' AS thresholds
FROM page_labels
ORDER BY site, url
