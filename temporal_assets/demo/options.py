"""Options of a demo corpus: its size and its seed.

What belongs here: what a user may choose, with named sizes. What does not: what the modelled
web looks like (`sites`) and how interest in a page behaves (`interest`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from temporal_assets.settings import LogSource

DEFAULT_FIRST_DAY: Final = dt.date(2025, 3, 3)
"""First day of a default corpus: a Monday, so that weeks are whole, and 27 days before Central
Europe puts its clocks forward: the window holds a day of 23 local hours."""

_PAGES_PER_SITE: Final = 40
"""Least number of pages per site, to fill its sections."""


_MOST_CLIENTS: Final = 1 << 24
"""Largest number of clients: addresses of 10.0.0.0/8, used beyond 131,072 readers."""

_MOST_LINES_PER_CLIENT: Final = 50
"""Largest number of lines per client and day. Beyond, the busiest readers would look like robots to
cleaning."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Size and seed of a corpus. Equal options give equal bytes, whatever `workers` is."""

    seed: int = 1
    first_day: dt.date = DEFAULT_FIRST_DAY
    days: int = 60
    """Number of days of the window; TW 4.1 and NP 3 observe 60."""
    sites: int = 15
    pages: int = 6_000
    """Number of pages at the end of the window, viewed or not, hubs not counted."""
    requests: int = 400_000
    """Number of log lines over the whole window, of every kind; met within a few percent."""
    clients: int = 40_000
    """Number of addresses that readers come from."""
    daily_truth: bool = True
    """True to write the true daily views and transits; they are as large as the log."""
    mirror: bool = True
    """True to write the pages' HTML and links."""
    packed: bool = False
    """True to compress every log; those that servers leave plain are five times as large."""
    workers: int | None = None
    """Number of threads; all cores if None."""

    def __post_init__(self) -> None:
        for name in ("days", "sites", "pages", "requests", "clients"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.seed < 0:
            raise ValueError("seed must not be negative")
        if self.workers is not None and self.workers < 1:
            raise ValueError("workers must be at least 1")
        if self.clients > _MOST_CLIENTS:
            raise ValueError(f"clients must be at most {_MOST_CLIENTS:,}")
        if self.requests > self.days * self.clients * _MOST_LINES_PER_CLIENT:
            raise ValueError(
                f"{self.clients:,} clients make at most {_MOST_LINES_PER_CLIENT} requests a day "
                "each, or they would look like robots: raise clients or days, or lower requests"
            )
        if self.pages < self.sites * _PAGES_PER_SITE:
            raise ValueError(
                f"{self.sites} sites need at least {self.sites * _PAGES_PER_SITE} pages"
            )

    @classmethod
    def preset(cls, name: str, **changes: Any) -> DemoOptions:
        """Return the named size, with some of its values changed."""
        if name not in PRESETS:
            raise ValueError(f"no demo size {name!r}; there are {', '.join(PRESETS)}")
        return replace(PRESETS[name], **changes)


PRESETS: Final[dict[str, DemoOptions]] = {
    "small": DemoOptions(),
    "medium": DemoOptions(sites=120, pages=300_000, requests=12_000_000, clients=1_000_000),
    # TW 4.1 counts 75,112,357 pages; ten million requests a day for 60 days.
    "paper": DemoOptions(
        sites=2_000,
        pages=75_000_000,
        requests=600_000_000,
        clients=8_000_000,
        daily_truth=False,
        mirror=False,
    ),
}
"""Options by name. small: a minute's demo. medium: enough pages for stable rates. paper: the size
of TW and NP."""


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """Result of `generate`: counts and files."""

    folder: Path
    sources: tuple[LogSource, ...]
    """Settings that make the pipeline read the logs."""
    days: tuple[dt.date, ...]
    """Days (UTC) of the window, all with requests."""
    lines: int
    """Number of log lines of every kind, without headers."""
    counts: dict[str, int]
    """Number of log lines by kind: page, static, method, status, bot, script, malformed."""
    pages: int
    """Number of pages in the truth, hubs included."""
    truth: dict[str, Path]
    """Files by name: truth, annotated sample, baseline and mirror."""
