"""Partitioned Parquet: atomic publish, manifests, windows, the landing zone, the catalogue."""
