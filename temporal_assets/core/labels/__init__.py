"""Labels of pages: temporal by observation, curve or concentration, early or calibrated."""
