"""Canonical URLs, the domains behind hosts, and hosts that are search engines."""
