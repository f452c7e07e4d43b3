"""Window tables of hubs: which pages lead to new temporal pages, and how often to visit them."""
