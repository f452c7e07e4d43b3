-- numbered_counts: the counts of a day with the numbers of its URLs
-- inputs: counts, urls
-- parameters: none
-- output: numbered_counts
-- grain: url, referrer, day
SELECT
    counts.day,
    targets.number AS url,
    sources.number AS referrer,
    counts.views,
    counts.clients,
    counts.transits
FROM counts
INNER JOIN urls AS targets ON targets.url = counts.url
LEFT JOIN urls AS sources ON sources.url = counts.referrer
ORDER BY targets.number, sources.number NULLS FIRST
