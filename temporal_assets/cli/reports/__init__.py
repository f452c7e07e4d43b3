"""Results of commands as terminal tables, pictures and JSON."""
