"""Results of crawls: reading the fetches that our crawls and other crawlers record.

Here: one row for each fetch, whatever file it stands in. Not here: writing them (`crawl.instant`),
what follows for sources and the policy (`windows.results`).
"""

from __future__ import annotations

from temporal_assets.crawl.results.fetch import FETCH, Fetch, table_of
from temporal_assets.crawl.results.files import identity, read_fetches, result_files

__all__ = ["FETCH", "Fetch", "identity", "read_fetches", "result_files", "table_of"]
