"""Contract of views without clients, in files beside the rows of `requests`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from temporal_assets.contracts.table import ColumnSpec, Table, Type, columns

COUNTS: Final = Table(
    name="counts",
    version=1,
    description=(
        "Views of pages of a day from sources that count them and name no client: `page_views` adds"
        " them to those of `requests`. Of one page, referrer and hour, the file that was read last"
        " counts; rows of one file are added."
    ),
    grain="one page, referrer and day",
    columns=(
        *columns("""
            day DATE: Day in the configured time zone.
            site VARCHAR: Host of `url`.
            """),
        ColumnSpec("url", Type.VARCHAR, "Canonical URL of the page.", number=Type.INTEGER),
        ColumnSpec(
            "referrer",
            Type.VARCHAR,
            "Canonical URL of the page that the views came from; NULL where that is unknown, or"
            " nowhere.",
            nullable=True,
            number=Type.INTEGER,
        ),
        *columns("""
            views BIGINT NULL: Visitors where the source counts them, else views; NULL where it
                counts transits alone.
            clients BIGINT NULL: So many different visitors at least; NULL where the source does not
                count visitors.
            transits BIGINT NULL: Views of which it is known that they came from the referrer, or
                from nowhere; NULL where the source does not say where views came from.
            """),
    ),
    key=("day", "url", "referrer"),
    is_read_often=True,
)
"""Table with URLs, as it is published with `requests`."""

NUMBERED_COUNTS: Final = replace(
    COUNTS.stored, columns=tuple(c for c in COUNTS.stored.columns if c.name != "site")
)
"""Table of the counts with the day's numbers instead of URLs, published with `transits`."""
