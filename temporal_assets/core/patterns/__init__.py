"""URL patterns of a site (BB 3 and 4): trees, cuts, the behaviour graph, ranks and matching."""
