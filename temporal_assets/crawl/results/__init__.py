"""Results of crawls: fetches read from what ours and other crawlers leave.

Here: one row for each fetch, whatever file it stands in. Not here: writing them (`crawl.instant`),
what follows for sources and the policy (`windows.crawls`).
"""

from __future__ import annotations

from temporal_assets.crawl.results.fetch import FETCH, Fetch, table_of
from temporal_assets.crawl.results.files import identity, read_fetches, result_files

__all__ = ["FETCH", "Fetch", "identity", "read_fetches", "result_files", "table_of"]
