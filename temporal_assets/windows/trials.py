"""Trials of lists: what was known when a list was made, and what it is judged by (design 6).

Here: the days of each trial and the pages on both sides. Not here: lists and measures
(`seed_evaluation`, `hub_evaluation`).

In sample, as in the papers, both sides are the labels of one window. Out of time a list is made
from the labels of an earlier window, as they were published then, and judged by the pages that
were born after it: temporal if more than q of the views they really got came in their first n days,
news if their real concentration over m days is above p.

Pages that are judged are in memory. Where there are more than `evaluation.most_pages`, both sides
are those of sites that are drawn, always the same ones: lists are of sites, and so is the bootstrap
(`core.site_bootstrap`), so that the measures estimate those of all sites.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from temporal_assets.contracts import ColumnSpec, Table, Type
from temporal_assets.core.concentration import concentration
from temporal_assets.logs.site_lists import SiteList, read_site_list
from temporal_assets.logs.urls import UrlRules
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import digest_of
from temporal_assets.windows.asset import Job, learned_days
from temporal_assets.windows.days import observed_days

LABELS: Final = ("temporal", "news")

_DIGITS: Final = 12
"""Of a digest in hexadecimal digits, that decide whether a site is drawn."""

_EVERY_DIGEST: Final = "g"
"""What follows every hexadecimal digit."""

_URL: Final = ColumnSpec("url", Type.VARCHAR, "Canonical URL.")
_TOTAL: Final = ColumnSpec("total", Type.BIGINT, "Views within the window.")

_KNOWN_PAGES: Final = Table(
    name="known_pages",
    version=1,
    description="Labels of a window; lives within one run.",
    grain="url",
    columns=(
        _URL,
        _TOTAL,
        ColumnSpec("is_temporal", Type.BOOLEAN, "By the curve."),
        ColumnSpec("is_news", Type.BOOLEAN, "By concentration."),
        ColumnSpec("has_temporal", Type.BOOLEAN, "Old enough for a curve."),
        ColumnSpec("has_news", Type.BOOLEAN, "Old enough for a concentration above p."),
    ),
)
_BORN_PAGES: Final = Table(
    name="born_pages",
    version=1,
    description="Pages born within some days; lives within one run.",
    grain="url",
    columns=(
        _URL,
        ColumnSpec("birth", Type.DATE, "First day with views."),
        _TOTAL,
        ColumnSpec("views", Type.INTEGERS, "Views of each day of the window."),
    ),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What lists are made from and judged by; columns are those of `known_pages`."""

    name: Literal["in_sample", "out_of_time"]
    horizon: int
    learned_until: dt.date
    known: pa.Table
    judged: pa.Table


@dataclass(frozen=True, slots=True)
class Sample:
    """The sites whose pages are judged."""

    share: float
    """Of all sites."""

    @property
    def until(self) -> str:
        """They are the sites whose digest is smaller than this."""
        return f"{int(self.share * 16**_DIGITS):0{_DIGITS}x}" if self.share < 1 else _EVERY_DIGEST


def sample_of(job: Job) -> Sample:
    """All sites, or as many as have about `evaluation.most_pages` pages with labels."""
    pages = job.sources.tables["page_labels"].rows
    return Sample(min(1.0, job.settings.evaluation.most_pages / max(pages, 1)))


def trials(job: Job) -> list[Trial]:
    """In sample, and every horizon whose earlier window is there."""
    now = _known(job, job.files("page_labels"), job.files("page_histories"))
    made = [Trial("in_sample", 0, job.day, now, now)]
    for horizon, day in learned_days(job.settings, job.day).items():
        labels = job.learned_on("page_labels", day)
        histories = job.learned_on("page_histories", day)
        if labels is not None and histories is not None:
            known = _known(job, labels, histories)
            judged = born_after(job, day, horizon)
            # A page that was known then has come back, and is not new.
            old = pc.is_in(judged["url"], known["url"])
            new = judged.filter(pc.invert(old))
            made.append(Trial("out_of_time", horizon, day, known, new))
    return made


def born_after(job: Job, day: dt.date, horizon: int) -> pa.Table:
    """Pages born in the days of the horizon after `day`, and what they really were."""
    labels = job.settings.labels
    rows = _read(
        job.engine.query(
            "born_pages",
            {"page_histories": job.files("page_histories")},
            {
                "born_from": day + dt.timedelta(days=1),
                "born_until": day + dt.timedelta(days=horizon),
                "sites_until": sample_of(job).until,
            },
            _BORN_PAGES,
            job.out,
        )
    )
    days = job.settings.window.days
    views = pc.list_flatten(rows["views"]).to_numpy().reshape(len(rows), days)
    observed = observed_days(job)
    early = concentration(views, ceil(labels.n), observed=observed)
    news = concentration(views, labels.m, observed=observed)
    return pa.table(
        {
            "url": rows["url"],
            "total": rows["total"],
            "is_temporal": early.first_share > labels.q,
            "is_news": (news.value > labels.p) & news.is_defined,
        }
    )


def baseline(settings: Settings) -> SiteList | None:
    """The list in use; None where the settings name none. `OSError` if it cannot be read."""
    file = baseline_file(settings)
    if file is None:
        return None
    return read_site_list(file.read_bytes(), UrlRules.from_settings(settings.cleaning))


def baseline_file(settings: Settings) -> Path | None:
    """The configured file, or None. It is not looked at."""
    path = settings.baseline.path
    return None if path is None else settings.state / path


def baseline_content(settings: Settings) -> str | None:
    """Identity of the list: another list makes the evaluation stale."""
    file = baseline_file(settings)
    if file is None:
        return None
    try:
        return digest_of(file.read_bytes().hex())
    except OSError:
        return "cannot be read"  # making it says why


def _known(job: Job, labels: Sequence[str], histories: Sequence[str]) -> pa.Table:
    inputs = {"page_labels": labels, "page_histories": histories}
    parameters = {"sites_until": sample_of(job).until}
    return _read(job.engine.query("known_pages", inputs, parameters, _KNOWN_PAGES, job.out))


def _read(files: Sequence[Path]) -> pa.Table:
    return pq.read_table([str(path) for path in files])
