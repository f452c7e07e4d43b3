-- annotated_pages: what the window knows of pages that people have annotated
-- inputs: annotated, page_totals, page_histories, interest_curves
-- parameters: section
-- output: annotated_pages
-- grain: url
SELECT
    annotated.line,
    annotated.url,
    regexp_extract(annotated.url, $section, 1) AS section,
    annotated.is_temporal,
    totals.site,
    totals.total,
    histories.views,
    curves.mu,
    curves.sigma,
    coalesce(curves.reason = 'one_day', FALSE) AS is_one_day
FROM annotated
LEFT JOIN page_totals AS totals ON totals.url = annotated.url
LEFT JOIN page_histories AS histories ON histories.url = annotated.url
LEFT JOIN interest_curves AS curves ON curves.url = annotated.url
ORDER BY annotated.line
