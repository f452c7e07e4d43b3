-- young_sums: what the reliable pages of each host that are too young for a curve will probably turn
--   out; where nothing was learned of young pages, like the pages born in the window that have one;
--   sums are of thousandths, so that the order of rows does not show in them
-- inputs: page_labels, page_histories, early_labels
-- parameters: young_days, knows_all
-- output: young_sums
-- grain: host
WITH born AS (
    SELECT avg(CASE WHEN is_temporal THEN 1 ELSE 0 END) AS share
    FROM page_labels
    INNER JOIN page_histories ON page_histories.url = page_labels.url
    -- Where nobody asks, nothing is read.
    WHERE phi_n IS NOT NULL AND NOT is_born_before AND NOT $knows_all
),

young AS (
    SELECT
        page_labels.site AS host,
        early_labels.total AS total,
        CAST(round(1000 * coalesce(probability, share, 0)) AS BIGINT) AS thousandths
    FROM page_labels
    INNER JOIN early_labels ON early_labels.url = page_labels.url
    CROSS JOIN born
    WHERE phi_n IS NULL AND age < $young_days
)

SELECT
    host,
    count(*) AS young_pages,
    CAST(sum(thousandths) AS DOUBLE) / 1000 AS young_temporal_pages,
    CAST(sum(thousandths * total) AS DOUBLE) / 1000 AS young_temporal_views
FROM young
GROUP BY host
ORDER BY host
