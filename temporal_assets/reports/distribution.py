"""Distributions of the scores of pages: TW figure 5 (interest of the first day) and NP figure 2.

Here: the queries that count, and the counts as text and as charts. Not here: the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from temporal_assets.reports.document import Axis, Chart, Series, Threshold

_SHARES: Final = 20
"""Number of bars for shares, as in TW figure 5."""

_LONGEST: Final = 50
"""Number of characters of the longest bar in text."""

INTEREST: Final = (
    f"SELECT least(CAST(floor(phi_1 * {_SHARES}) AS BIGINT), {_SHARES - 1}) AS bin,"  # noqa: S608 - a number of ours
    " count(*) AS pages FROM interest_curves WHERE phi_1 IS NOT NULL GROUP BY 1"
)
"""Query: number of pages by their first day's share of interest, in bars; reads
`interest_curves`."""

CONCENTRATION: Final = (
    "SELECT CAST(floor(concentration) AS BIGINT) AS bin, count(*) AS pages FROM page_labels"
    " WHERE has_concentration GROUP BY 1"
)
"""Query: number of pages by concentration in whole steps; reads `page_labels`."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Numbers of pages by intervals of a score."""

    title: str
    starts: tuple[float, ...]
    """Beginnings of the intervals; each ends where the next begins."""
    pages: tuple[int, ...]

    @property
    def total(self) -> int:
        """Number of all pages."""
        return sum(self.pages)


def of_interest(rows: Rows) -> Distribution:
    """Return the distribution of rows of `INTEREST`."""
    starts = tuple(round(k / _SHARES, 2) for k in range(_SHARES))
    title = "pages by the share of their interest on the first day"
    return Distribution(title, starts, _pages(rows, len(starts)))


def of_concentration(rows: Rows) -> Distribution:
    """Return the distribution of rows of `CONCENTRATION`."""
    count = max((row["bin"] for row in rows), default=0) + 1
    starts = tuple(float(k) for k in range(count))
    return Distribution("pages by the concentration of their views", starts, _pages(rows, count))


def _pages(rows: Rows, count: int) -> tuple[int, ...]:
    counts = {row["bin"]: row["pages"] for row in rows}
    return tuple(counts.get(k, 0) for k in range(count))


def as_text(distribution: Distribution) -> list[str]:
    """Return one line for each interval: a bar and its number of pages."""
    lines = [f"{distribution.title}: {distribution.total:,} pages"]
    most = max(distribution.pages, default=0)
    if not most:
        return lines
    for start, pages in zip(distribution.starts, distribution.pages, strict=True):
        bar = "█" * round(_LONGEST * pages / most)
        lines.append(f"{start:>6g} │{bar} {pages:,}" if pages else f"{start:>6g} │")
    return lines


def as_chart(
    distribution: Distribution, title: str, label: str, colour: int, *, is_share: bool
) -> Chart:
    """Return the distribution as a bar chart."""
    step = distribution.starts[1] - distribution.starts[0] if len(distribution.starts) > 1 else 1.0
    middles = tuple(start + step / 2 for start in distribution.starts)
    most = max(range(len(distribution.pages)), key=lambda k: distribution.pages[k])
    end = distribution.starts[-1] + step
    return Chart(
        f"{title}: {distribution.total:,} {'page' if distribution.total == 1 else 'pages'}",
        f"Most pages, {distribution.pages[most]:,}, lie from {distribution.starts[most]:g} on.",
        Axis(label, "share" if is_share else "number", 0.0, end),
        Axis("pages", "count", 0.0),
        (Series("pages", "bars", colour, middles, tuple(map(float, distribution.pages))),),
    )


def interest_chart(distribution: Distribution, of: str, colour: int = 0) -> Chart:
    """Return TW figure 5: pages by the share of their interest on the first day."""
    return as_chart(
        distribution, of, "Φ(1), the share of interest on the first day", colour, is_share=True
    )


def concentration_chart(distribution: Distribution, of: str, p: float) -> Chart:
    """Return NP figure 2: all pages by concentration, with the threshold of news."""
    chart = as_chart(distribution, of, "concentration", 0, is_share=False)
    return replace(chart, thresholds=(Threshold(p, f"p = {p:g}"),))
