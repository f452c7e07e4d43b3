-- known_labels: labels of the pages of whose interest something is known
-- inputs: page_labels
-- parameters: none
-- output: known_labels
-- grain: url
SELECT site, url, is_temporal
FROM page_labels
WHERE phi_n IS NOT NULL
ORDER BY site, url
