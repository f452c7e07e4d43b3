"""Contracts of the window tables of sites, sections and prefixes, and of their trials."""
