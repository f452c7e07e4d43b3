-- link_steps: the transits of the window with numbers for URLs; a client whose key was changed
--   within the window counts anew with each key, so that the period of the key is kept
-- inputs: transits, link_pages
-- parameters: rotation_days
-- output: link_steps
-- grain: referrer, target, client, day
SELECT
    sources.page AS source,
    targets.page AS target,
    transits.client,
    CAST(floor(date_diff('day', DATE '1970-01-01', transits.day) / $rotation_days) AS BIGINT)
        AS period
FROM transits
INNER JOIN link_pages AS targets ON targets.url = transits.target
LEFT JOIN link_pages AS sources ON sources.url = transits.referrer
