"""Storage of tables and state: atomic publication, manifests, buckets, digests and seals."""
