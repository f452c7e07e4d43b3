-- traffic_rows: made from sql/traffic_rows.sql by `python -m temporal_assets.engines.translation`; edit that
-- inputs: traffic_rows
-- parameters: none
SELECT
  day,
  site,
  url,
  visits,
  referred,
  referrals,
  clients,
  few_clients,
  links,
  views,
  is_new,
  is_temporal
FROM {traffic_rows} AS traffic_rows
