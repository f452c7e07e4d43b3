-- behaviour_graph: transits between the patterns of a site (BB 4.2), with their shares of all that
--   leaves the one and of all that reaches the other
-- inputs: url_patterns
-- parameters: none
-- output: behaviour_graph
-- grain: source, target pattern
SELECT
    edges.day,
    edges.site,
    edges.source,
    edges.target,
    edges.transits,
    CAST(edges.transits AS DOUBLE) / CAST(edges.referrals AS DOUBLE) AS out_share,
    CAST(edges.transits AS DOUBLE) / CAST(targets.visits AS DOUBLE) AS in_share
FROM (
    SELECT day, site, source, referrals, link.page AS target, link.transits AS transits
    FROM (
        SELECT day, site, pattern AS source, referrals, unnest(links) AS link
        FROM url_patterns
        WHERE is_pattern
    )
) AS edges
INNER JOIN url_patterns AS targets
    ON targets.site = edges.site AND targets.pattern = edges.target
ORDER BY edges.site, edges.source, edges.target
