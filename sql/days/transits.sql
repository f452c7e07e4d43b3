-- transits: who came to a page from where (BB 2): distinct (referrer, target, client) of the day, URLs
--   by their numbers; a page opened without a referrer has a transit from nowhere (NULL); reloads are
--   no transits; by target first: files are a third smaller than by client and read in half the time,
--   and they are read many times
-- inputs: requests, urls
-- parameters: none
-- output: transits
-- grain: referrer, target, client, day
SELECT DISTINCT
    requests.day,
    sources.number AS referrer,
    targets.number AS target,
    requests.client
FROM requests
INNER JOIN urls AS targets ON targets.url = requests.url
LEFT JOIN urls AS sources ON sources.url = requests.referrer
WHERE requests.referrer IS NULL OR requests.referrer <> requests.url
ORDER BY target, referrer NULLS FIRST, client
