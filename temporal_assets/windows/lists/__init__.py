"""Window tables of lists: sites, sections, prefixes, and changes of the site list."""
