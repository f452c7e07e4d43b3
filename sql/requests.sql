-- requests: the day's page requests by people, in the order of the logs
-- inputs: segments, behavioural_bots
-- parameters: none
-- output: requests
-- grain: request
SELECT day, ts, client, url, referrer, site
FROM segments
WHERE client NOT IN (SELECT client FROM behavioural_bots)
