-- chosen_hubs: what is known of the hubs that were taken, and of the first of the paper's order
-- inputs: hub_order, taken_hubs
-- parameters: most_hubs
-- output: chosen_hubs
-- grain: page
SELECT hubs.page, hubs.place, hubs.url, hubs.is_external, hubs.clients, hubs.temporal_pages
FROM hub_order AS hubs
LEFT JOIN taken_hubs AS taken ON taken.page = hubs.page
WHERE hubs.place <= $most_hubs OR taken.page IS NOT NULL
ORDER BY hubs.page
