-- kept_transits: of the days that two windows share, the transits by clients who came to the same page
--   on a day that enters or leaves, and those from new pages or to pages whose clients may be few
-- inputs: kept, entering, leaving, traced_pages
-- parameters: none
-- output: kept_transits
-- grain: none
-- Hashes are compared, because most transits are sorted out here; a few too many do no harm.
WITH moved AS (
    SELECT hash(hash(target), client) AS visit FROM entering
    UNION ALL
    SELECT hash(hash(target), client) AS visit FROM leaving
),

-- Of each URL once: it is most of the work.
hashed AS (
    SELECT referrer, target, client, hash(referrer) AS source, hash(target) AS page FROM kept
)

SELECT referrer, target, client
FROM hashed
WHERE
    hash(page, client) IN (SELECT visit FROM moved)
    OR page IN (SELECT hash(url) FROM traced_pages WHERE NOT is_new)
    OR source IN (SELECT hash(url) FROM traced_pages WHERE is_new)
