-- born_pages: pages of a window that were born within some of its days, with their views by day and
--   the thresholds that an earlier window had for them, of the sites that were drawn
-- inputs: page_histories, known_labels
-- parameters: born_from, born_until, sites_until, section, n, q, m, p
-- output: born_pages
-- grain: url
WITH known AS (
    SELECT
        CASE WHEN thresholds IN ('section', 'site') THEN thresholds ELSE 'all' END AS scope,
        CASE
            WHEN thresholds = 'section' THEN regexp_extract(url, $section, 1)
            WHEN thresholds = 'site' THEN site
            ELSE ''
        END AS name,
        n,
        q,
        m,
        p
    FROM known_labels
),

-- Pages of one name have the same ones.
used AS (
    SELECT scope, name, max(n) AS n, max(q) AS q, max(m) AS m, max(p) AS p
    FROM known
    GROUP BY scope, name
)

SELECT
    lives.url,
    lives.total,
    lives.birth,
    lives.views,
    coalesce(section.n, site.n, everywhere.n, $n) AS n,
    coalesce(section.q, site.q, everywhere.q, $q) AS q,
    coalesce(section.m, site.m, everywhere.m, $m) AS m,
    coalesce(section.p, site.p, everywhere.p, $p) AS p
FROM page_histories AS lives
LEFT JOIN used AS section
    ON section.scope = 'section'
    AND section.name = regexp_extract(lives.url, $section, 1)
LEFT JOIN used AS site ON site.scope = 'site' AND site.name = lives.site
LEFT JOIN used AS everywhere ON everywhere.scope = 'all'
WHERE
    lives.birth >= $born_from
    AND lives.birth <= $born_until
    AND NOT lives.is_born_before
    AND md5(lives.site) <= $sites_until
ORDER BY lives.url
