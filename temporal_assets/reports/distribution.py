"""Distributions of the scores of pages: TW figure 5 (interest of the first day) and NP figure 2.

Here: the queries that count, and drawing the counts as text and PNG. Not here: the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from temporal_assets.reports.plots import bars

_SHARES: Final = 20
"""Bars of a share, as in TW figure 5."""

_LONGEST: Final = 50
"""Characters of the longest bar of a text."""

INTEREST: Final = (
    f"SELECT least(CAST(floor(phi_1 * {_SHARES}) AS BIGINT), {_SHARES - 1}) AS bin,"  # noqa: S608 - a number of ours
    " count(*) AS pages FROM interest_curves WHERE phi_1 IS NOT NULL GROUP BY 1"
)
"""Pages by the bar their first day's share of interest falls into; reads `interest_curves`."""

CONCENTRATION: Final = (
    "SELECT CAST(floor(concentration) AS BIGINT) AS bin, count(*) AS pages FROM page_labels"
    " WHERE has_concentration GROUP BY 1"
)
"""Pages by whole steps of concentration; reads `page_labels`."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Pages by a score."""

    title: str
    starts: tuple[float, ...]
    """Each bar begins here and ends where the next begins."""
    pages: tuple[int, ...]

    @property
    def total(self) -> int:
        """All pages."""
        return sum(self.pages)


def of_interest(rows: Rows) -> Distribution:
    """From the rows of `INTEREST`."""
    starts = tuple(round(k / _SHARES, 2) for k in range(_SHARES))
    title = "pages by Φ(1), the share of interest on the first day (TW figure 5)"
    return Distribution(title, starts, _pages(rows, len(starts)))


def of_concentration(rows: Rows) -> Distribution:
    """From the rows of `CONCENTRATION`."""
    count = max((row["bin"] for row in rows), default=0) + 1
    starts = tuple(float(k) for k in range(count))
    return Distribution("pages by concentration (NP figure 2)", starts, _pages(rows, count))


def _pages(rows: Rows, count: int) -> tuple[int, ...]:
    counts = {row["bin"]: row["pages"] for row in rows}
    return tuple(counts.get(k, 0) for k in range(count))


def as_text(one: Distribution) -> list[str]:
    """A bar a line, with its pages."""
    most = max(one.pages, default=0) or 1
    lines = [f"{one.title}: {one.total:,} pages"]
    for start, pages in zip(one.starts, one.pages, strict=True):
        bar = "█" * round(_LONGEST * pages / most)
        lines.append(f"{start:>6g} │{bar} {pages:,}" if pages else f"{start:>6g} │")
    return lines


def as_png(one: Distribution, also: str = "") -> bytes:
    """The same as a picture; `also` is added to its title."""
    return bars(one.title + also, [f"{start:g}" for start in one.starts], one.pages)
