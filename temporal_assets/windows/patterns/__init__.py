"""Window tables of URL patterns: trees of all sites, behaviour graphs and ranks."""
