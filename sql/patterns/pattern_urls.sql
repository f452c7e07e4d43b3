-- pattern_urls: the nodes of the pattern trees, and behind those of each site the pages of its flow,
--   whose patterns are looked for
-- inputs: url_patterns, page_flow
-- parameters: none
-- output: pattern_urls
-- grain: site, node or url
SELECT site, pattern, parent, rule, is_pattern, url, temporal
FROM (
    SELECT
        url_patterns.site,
        0 AS kind,
        pattern,
        parent,
        rule,
        is_pattern,
        CAST(NULL AS VARCHAR) AS url,
        CAST(NULL AS DOUBLE) AS temporal
    FROM url_patterns
    WHERE
        status = 'learned'
        AND url_patterns.site IN (SELECT page_flow.site FROM page_flow)
    UNION ALL
    SELECT
        page_flow.site,
        1 AS kind,
        CAST(NULL AS BIGINT) AS pattern,
        CAST(NULL AS BIGINT) AS parent,
        CAST(NULL AS VARCHAR) AS rule,
        CAST(NULL AS BOOLEAN) AS is_pattern,
        url,
        temporal
    FROM page_flow
    WHERE page_flow.site IN (SELECT url_patterns.site FROM url_patterns WHERE status = 'learned')
) AS rows_of_sites
ORDER BY site, kind, pattern, url
