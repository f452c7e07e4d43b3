"""`temporal-assets try`: other settings, rules and thresholds, before they are used."""
