"""The modelled web of the demo: sites, pages, people, and what they read when."""
