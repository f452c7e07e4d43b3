"""The landing zone: every log file parsed once, cleaned, and split by day."""
