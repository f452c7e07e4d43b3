"""Cleaning of records to page requests: what is kept, and why the rest is not; known bots."""
