-- traffic_rows: rows of page_traffic that were put together elsewhere, written as an engine writes them:
--   equal rows are equal files, whichever way they were made
-- inputs: traffic_rows
-- parameters: none
-- output: page_traffic
-- grain: url
SELECT
    day,
    site,
    url,
    visits,
    referred,
    referrals,
    clients,
    few_clients,
    links,
    views,
    is_new,
    is_temporal
FROM traffic_rows
