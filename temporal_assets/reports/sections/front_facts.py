"""The facts that the report's front page shows, as `windows.report.front_rows` reads them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from temporal_assets.reports.sections.wording import Row


@dataclass(frozen=True, slots=True)
class Front:
    """The contents of the front page; tables are rows with the columns named."""

    day: dt.date
    traffic: Sequence[Row]
    """`day`, `views`, `pages` of each day of the window with data."""
    births: Sequence[Row]
    """`day`, `pages`, `temporal`: number of pages born on each observed day."""
    entries: Sequence[Row]
    """`kind`, `decision`, `entries` (number) of the crawl policy."""
    budget: Sequence[Row]
    """`what`, `fetches` per day, the largest first."""
    watched: Sequence[Row]
    """`kind`, `name`, `why`: the first entries of each kind that enough clients know."""
    hubs: Sequence[Row]
    """`name`, `new_per_day` and its bounds of the first hubs that enough clients know."""
    changes: Sequence[Row]
    """`site`, `change`, most important first."""
    crawled: Sequence[Row]
    """Sums of `sources` by kind, of those that crawls visited; empty without results of crawls."""
    best_source: Sequence[Row]
    """`url`, `pages`, `temporal_pages` of the source that was first to show the most temporal
    pages."""
    compared: dt.date | None
    """Day of the earlier list of sites, since which changes are listed."""
    days: int
    missing: int
    """Number of days of the window, and of those without data."""
    opened: int
    labelled: int
    """Number of pages opened in the window, and of those with enough views for a label."""
    days_to_judge: int
    """Number of further days of logs until lists can be evaluated out of time."""
    rejected: float | None
    """Share of the day's log lines that could not be read; None if unknown."""
    failed: Sequence[str]
    """Names of invariants that the day's tables break."""
    warned: Sequence[str]
    """Names of other checks of the day that did not pass."""
    is_judged: bool
    """True if checks of the day have run. How many have depends on when the report is made, and the
    same data must give the same report."""
    lists: Sequence[Row]
    """Rows of `seed_evaluation`."""
    reach: Sequence[Row]
    """Rows of `hub_evaluation`."""
    timely: Sequence[Row]
    """Rows of `timely_simulation`."""
