"""Spark as an engine: sessions, tasks, files, and the translation of statements."""
