-- requests: the day's page requests by people, in a fixed order: the same lines give the same
--   partition, however they were spread over files
-- inputs: segments, behavioural_bots
-- parameters: none
-- output: requests
-- grain: request
SELECT day, ts, client, url, referrer, site
FROM segments
WHERE client NOT IN (SELECT client FROM behavioural_bots)
ORDER BY ts, client, url, referrer NULLS FIRST
