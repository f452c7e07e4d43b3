"""Pseudonyms of clients, and samples of lines that are safe to store."""
