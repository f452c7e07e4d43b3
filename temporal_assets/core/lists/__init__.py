"""Lists of sites, sections and prefixes by the expected label of their new pages."""
