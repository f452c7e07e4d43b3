"""Fields of log lines in any format: layouts, the loop over lines, times, and the records."""
