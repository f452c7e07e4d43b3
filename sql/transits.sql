-- transits: who came to a page from where (BB 2): distinct (referrer, target, client) of the day;
--   a page opened without a referrer has a transit from nowhere (NULL); reloads are no transits;
--   by client first: sorting integers is faster than URLs, and the files are a third smaller
-- inputs: requests
-- parameters: none
-- output: transits
-- grain: referrer, target, client, day
SELECT DISTINCT day, referrer, url AS target, client
FROM requests
WHERE referrer IS NULL OR referrer <> url
ORDER BY client, target, referrer NULLS FIRST
