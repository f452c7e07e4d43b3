"""Lists of sites, sections and prefixes: what new pages of each will probably be."""
