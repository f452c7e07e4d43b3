-- migrate_page_labels_from_1: labels as they were stored before they said where thresholds are from
-- inputs: page_labels
-- parameters: none
-- output: page_labels
-- grain: url
-- Version 1 knew no calibration: its thresholds are those of the settings.
SELECT
    day,
    site,
    url,
    is_temporal,
    is_sure,
    is_news,
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
