-- behavioural_bots: clients that do not behave like readers, with the pages they opened
-- inputs: segments
-- parameters: pages_per_minute, pages_without_referrer
-- output: behavioural_bots
-- grain: client
SELECT
    client,
    CASE WHEN fastest > $pages_per_minute THEN 'bot_rate' ELSE 'bot_no_referrer' END AS reason,
    pages
FROM (
    SELECT client, sum(pages) AS pages, max(pages) AS fastest, sum(referred) AS referred
    FROM (
        SELECT
            client,
            date_trunc('minute', ts) AS minute,
            count(*) AS pages,
            count(referrer) AS referred
        FROM segments
        GROUP BY client, date_trunc('minute', ts)
    ) AS minutes
    GROUP BY client
) AS clients
WHERE
    fastest > $pages_per_minute
    OR ($pages_without_referrer > 0 AND pages >= $pages_without_referrer AND referred = 0)
ORDER BY client
