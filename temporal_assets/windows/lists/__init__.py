"""Window tables of lists: sites, sections, prefixes, and how lists fare out of time."""
