"""Contract of the URLs of a day with their numbers, in files beside the rows of `transits`."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.table import Table, columns

URLS: Final = Table(
    name="urls",
    version=1,
    description=(
        "URLs of a day: pages that were opened, in the order of `page_views`, and behind them"
        " those that people only came from."
    ),
    grain="one URL and day",
    columns=columns("""
        day DATE: Day in the configured time zone.
        number INTEGER: Number of the row, from 0, which stands for the URL.
        site VARCHAR: Host of `url`.
        url VARCHAR: Canonical URL.
        is_opened BOOLEAN: Somebody opened it on the day.
        """),
    key=("day", "url"),
    is_read_often=True,
)
"""Table that is published with `transits`: rows and the URLs that they number change at once, or
not at all."""
