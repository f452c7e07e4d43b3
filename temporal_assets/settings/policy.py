"""Settings of the crawl policy, and of what judges it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator

from temporal_assets.settings.section import Section


class Policy(Section):
    """Advice to crawlers on URLs that are no hubs (docs/policy.md)."""

    skip_share: float = Field(0.01, ge=0, lt=1)
    """The least visited patterns of a site are skipped while together they have no larger share of
    its visits (BB 5.3: few patterns hold nearly all traffic)."""


class Crawls(Section):
    """Results of crawls, and sources that people know (docs/crawl-results.md)."""

    results: tuple[Path, ...] = ()
    """Folders and files of crawls: archives of `temporal-assets crawl`, WARC, CDX, tables of
    fetches; relative to the state folder. Unset: none."""

    sources: Path | None = None
    """List of feeds and sitemaps, a URL a line; relative to the state folder. Unset: none."""


class Baseline(Section):
    """The list in use today, which ours are compared with (docs/evaluation.md).

    TW Table 1 and NP Table 2 do so.
    """

    path: Path | None = None
    """Hand-made list of sites or seeds; relative to the state folder. Unset: none."""


class Evaluation(Section):
    """Judgement of lists by pages born after they were made (docs/evaluation.md)."""

    horizons: tuple[int, ...] = (7, 30)
    """Days of births after the list was made."""

    settle_days: int = Field(7, ge=1)
    """Days for which the youngest of these pages have been observed at least: what a page is shows
    only when its first days are over."""

    @field_validator("horizons")
    @classmethod
    def _days(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(days < 1 for days in value):
            raise ValueError("must be numbers of days, each at least 1")
        return value


class Simulation(Section):
    """Simulated crawls (docs/evaluation.md)."""

    mirror: Path | None = None
    """Folder of a stored mirror, which must be there; relative to the state folder. Unset: the one
    that `temporal-assets evaluate mirror` stored in the state folder, and without one the transits
    of the window: every page that was opened, every step of a user a link."""

    most_pages: ClassVar[int] = 5_000_000
    """Pages in the logs that the sites may have together: one that has more than the sites before
    it have left is left out, and not replaced. Crawls are in memory, a kilobyte a page, as is a
    stored mirror; the largest site of BB Table 2 has 1.7 million."""
