"""Contracts of evaluations out of time: lists and hubs."""
