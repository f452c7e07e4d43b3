"""Results of crawls: what was fetched, and what each source has brought."""
