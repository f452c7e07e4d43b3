"""Settings of the crawl policy, and of what judges it."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from temporal_assets.settings.section import Section


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
