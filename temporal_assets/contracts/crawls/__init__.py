"""Contracts of simulated crawls."""
