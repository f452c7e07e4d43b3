"""Hubs: what they will lead to, what they lead to together, and how often to visit them."""
