-- hub_facts: what each page with links to wanted ones leads to; pages that nobody opened are left out.
--   `evidence` is new temporal pages, each weighed by the day of its link, in millionths of millionths;
--   of complete pages, `shown` is their views from the day on which their link was first followed, and
--   `missed` those after the day on which it was last followed: the link had gone
-- inputs: link_numbers, wanted_numbers, link_pages, day_weights
-- parameters: none
-- output: hub_facts
-- grain: page
WITH facts AS (
    SELECT
        links.source AS page,
        CAST(
            sum(CASE WHEN wanted.born >= 0 THEN wanted.worth * weights.weight ELSE 0 END) AS BIGINT
        ) AS evidence,
        CAST(sum(CASE WHEN wanted.is_temporal THEN 1 ELSE 0 END) AS BIGINT) AS temporal_pages,
        count(*) AS wanted_pages,
        CAST(sum(wanted.views) AS BIGINT) AS views,
        CAST(sum(wanted.one_day) AS BIGINT) AS one_day,
        CAST(sum(wanted.three_days) AS BIGINT) AS three_days,
        CAST(sum(wanted.all_days) AS BIGINT) AS all_days,
        CAST(
            sum(
                wanted.all_days - CASE links.first_day - wanted.born
                    WHEN 0 THEN 0
                    WHEN 1 THEN wanted.one_day
                    WHEN 2 THEN wanted.two_days
                    ELSE wanted.three_days
                END
            ) AS BIGINT
        ) AS shown,
        CAST(
            sum(
                CASE links.last_day - wanted.born
                    WHEN 0 THEN wanted.all_days - wanted.one_day
                    WHEN 1 THEN wanted.all_days - wanted.two_days
                    WHEN 2 THEN wanted.all_days - wanted.three_days
                    ELSE 0
                END
            ) AS BIGINT
        ) AS missed
    FROM link_numbers AS links
    INNER JOIN wanted_numbers AS wanted ON wanted.page = links.target
    INNER JOIN day_weights AS weights ON weights.day = links.first_day
    GROUP BY links.source
)

SELECT
    facts.*,
    pages.url,
    pages.host,
    pages.number
FROM facts
INNER JOIN link_pages AS pages ON pages.page = facts.page
WHERE pages.number IS NOT NULL
ORDER BY facts.page
