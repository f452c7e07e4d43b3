"""Trials of lists: what was known when a list was made, and what it is judged by.

Here: the days of each trial and the pages on both sides. Not here: lists and measures
(`seed_evaluation`, `hub_evaluation`).

In sample, as in the papers, both sides are the labels of one window. Out of time a list is made
from the labels of an earlier window, as they were published then, and judged by the pages that
were born after it: temporal if more than q of the views they really got came in their first n days,
news if their real concentration over m days is above p. Thresholds are those that the earlier
window had for their section or site: what is judged has no say in them.

Pages that are judged are in memory. Where there are more than `MOST_PAGES`, both sides
are those of sites that are drawn: lists are of sites, and so is the bootstrap
(`core.lists.site_bootstrap`), so that the measures estimate those of all sites.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.contracts import passing
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.text.page_section import SECTION
from temporal_assets.engines.parquet_rows import whole_table
from temporal_assets.logs.tables.site_lists import SiteList, read_site_list
from temporal_assets.logs.urls.url_rules import UrlRules
from temporal_assets.settings import Settings
from temporal_assets.storage.manifest import Manifest
from temporal_assets.windows.frame.asset import Job, learned_days
from temporal_assets.windows.frame.days import histories_parameters, observed_days
from temporal_assets.windows.frame.given_files import file_in

LABELS: Final = ("temporal", "news")

MOST_PAGES: Final = 2_000_000
"""Pages with labels that lists are judged by in a trial, twice as many as in the papers. Where
there are more, whole sites are drawn by a digest of their name, as many as have so many together
and one at least: pages that are judged lie in the memory of one machine, some kilobytes each."""

_EVERY_DIGEST: Final = "g"
"""Character greater than every hexadecimal digit: as a bound it includes all digests."""

_DRAWN: Final = (
    "SELECT max(CASE WHEN upto <= {most} OR upto = pages THEN digest END) AS until,"
    " sum(CASE WHEN upto <= {most} OR upto = pages THEN 1 ELSE 0 END) AS drawn, count(*) AS sites"
    " FROM (SELECT md5(site) AS digest, pages, sum(pages) OVER (ORDER BY md5(site)"
    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto"
    " FROM (SELECT site, count(*) AS pages FROM page_labels GROUP BY site) AS sizes) AS places"
)
"""Statement for the sample: the first sites in the order of their digests, up to the wanted number
of labelled pages."""


_KNOWN_PAGES: Final = passing(
    "known_pages",
    "url VARCHAR, total BIGINT, birth DATE, is_temporal BOOLEAN, is_news BOOLEAN,"
    " has_temporal BOOLEAN, has_news BOOLEAN",
)
_BORN_PAGES: Final = passing(
    "born_pages",
    "url VARCHAR, total BIGINT, birth DATE, views INTEGER[], n DOUBLE, q DOUBLE, m BIGINT,"
    " p DOUBLE",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """Pages that lists are made from and judged by; columns are those of `known_pages`."""

    name: Literal["in_sample", "out_of_time"]
    horizon: int
    learned_until: dt.date
    known: pa.Table
    judged: pa.Table
    share: float = 1.0
    """Share of all sites that these pages were sampled from."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The sites whose pages are judged."""

    share: float
    """Share of all sites."""
    until: str
    """Largest digest of a sampled site: all sites up to it are sampled."""


def sample_of(job: Job) -> Sample:
    """Return all sites, or a sample of at least one site with up to `MOST_PAGES` labelled pages."""
    if job.sources.tables["page_labels"].rows <= MOST_PAGES:
        return Sample(1.0, _EVERY_DIGEST)
    labels = {"page_labels": job.files("page_labels")}
    (drawn,) = job.engine.rows(_DRAWN.replace("{most}", str(MOST_PAGES)), labels)
    share = float(drawn["drawn"] / drawn["sites"])
    job.cut(
        f"lists are judged by {share:.1%} of the sites: there are more than {MOST_PAGES:,} pages"
        " with labels"
    )
    return Sample(share, drawn["until"])


def trials(job: Job) -> list[Trial]:
    """Return the trial in sample, and one for every horizon whose earlier window is published."""
    sample = sample_of(job)
    tables = job.sources.tables
    now = _known_pages(job, sample, tables["page_labels"], tables["page_histories"])
    usual_trials = [Trial("in_sample", 0, job.day, now, now, sample.share)]
    for horizon, day in learned_days(job.settings, job.day).items():
        labels = job.learned("page_labels", day)
        histories = job.learned("page_histories", day)
        if labels is not None and histories is not None:
            known_pages = _known_pages(job, sample, labels, histories)
            judged = born_after(job, sample, labels, horizon)
            # A page that was known then has come back, and is not new.
            old = pc.is_in(judged["url"], known_pages["url"])
            new = judged.filter(pc.invert(old))
            usual_trials.append(Trial("out_of_time", horizon, day, known_pages, new, sample.share))
    return usual_trials


def born_after(job: Job, sample: Sample, learned_from: Manifest, horizon: int) -> pa.Table:
    """Return the pages born within the horizon after the labels' day, with their real labels."""
    labels = job.settings.labels
    rows = _read(
        job.engine.query(
            "born_pages",
            {
                "page_histories": job.files("page_histories"),
                "known_labels": job.store.paths(learned_from),
            },
            {
                "born_from": learned_from.day + dt.timedelta(days=1),
                "born_until": learned_from.day + dt.timedelta(days=horizon),
                "sites_until": sample.until,
                "section": SECTION,
                "n": labels.n,
                "q": labels.q,
                "m": labels.m,
                "p": labels.p,
            },
            _BORN_PAGES,
            job.out,
        )
    )
    days = job.settings.window.days
    views = pc.list_flatten(rows["views"]).to_numpy().reshape(len(rows), days)
    observed = observed_days(job)
    first_days = np.ceil(rows["n"].to_numpy()).astype(np.int64)
    early = concentration(views, first_days, observed=observed)
    news = concentration(views, rows["m"].to_numpy(), observed=observed)
    return pa.table(
        {
            "url": rows["url"],
            "total": rows["total"],
            "birth": rows["birth"],
            "is_temporal": early.first_share > rows["q"].to_numpy(),
            "is_news": (news.value > rows["p"].to_numpy()) & news.is_defined,
        }
    )


def baseline(settings: Settings) -> SiteList | None:
    """Return the list in use, or None if the settings name none. Raises `OSError` if unreadable."""
    file = file_in(settings.state, settings.baseline.path)
    if file is None:
        return None
    return read_site_list(file.read_bytes(), UrlRules.from_settings(settings.cleaning))


def _known_pages(job: Job, sample: Sample, labels: Manifest, histories: Manifest) -> pa.Table:
    """Return the sampled pages with labels of a window, with views and labels."""
    inputs = {manifest.asset: job.store.paths(manifest) for manifest in (labels, histories)}
    parameters = {"sites_until": sample.until, **histories_parameters(histories)}
    return _read(job.engine.query("known_pages", inputs, parameters, _KNOWN_PAGES, job.out))


def _read(files: Sequence[Path]) -> pa.Table:
    return whole_table(files)
