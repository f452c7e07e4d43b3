"""A preview of a source: how the first lines of a few files would be read, and doubts about it.

In: a source of the settings. Out: `Preview`, with some lines, shares of usable fields, and
sentences on what a person should check before everything is read. Not here: reading a sample
(`preview_sample`), its lines (`preview_lines`), whole files (`reading`), showing it (`cli`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from temporal_assets.landing.preview_lines import PreviewLine, lines_to_show
from temporal_assets.landing.preview_sample import Sample, read_sample, spread_files
from temporal_assets.landing.reading import why_unreadable
from temporal_assets.landing.source_verdicts import USELESS_REFERRERS, Share, several_sites
from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaned import Cleaned, reason_of
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.read.objects import LogPath
from temporal_assets.logs.read.paths import expand
from temporal_assets.logs.read.records import Records, Reject, remedy
from temporal_assets.settings import VIEWS_PER_CLIENT, LogSource, Settings

_DOUBTFUL_REJECTS: Final = 0.1
"""Share of rejected lines above which a person should look."""
_SUSPICIOUS_FROM: Final = 50
"""Number of page requests from which on it is suspicious that all are of one visitor."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The first lines of one file of a source, as they would be read."""

    source: LogSource
    file: LogPath
    files: int
    """Number of files of the source."""
    format: str
    lines: tuple[PreviewLine, ...]
    sampled: int
    """Number of lines that were read."""
    kept: int
    """Number of page requests among them."""
    shares: dict[str, Share]
    doubts: tuple[str, ...]
    """Sentences on doubts, each with what to do."""
    missing: tuple[str, ...] = ()
    """Sentences on what the format does not tell."""
    other_formats: tuple[tuple[str, str], ...] = ()
    """Other formats in the files that were looked at, each with a file that is read as it."""
    error: str | None = None
    """Why none of the sampled files can be read."""

    @property
    def is_useless(self) -> bool:
        """True if nothing in the sample could be used."""
        return self.error is not None or bool(self.sampled and not self.kept)


def preview(source: LogSource, settings: Settings) -> Preview:
    """Return what reading `source` would make of its first lines. Raises `NoSuchLogError`."""
    files = expand(source.path)
    looked_at = spread_files(files)
    first: Preview | None = None
    failures: list[str] = []
    sites: dict[str, str] = {}
    formats_of: dict[str, str] = {}
    for path in looked_at:
        if first is not None and source.host is None and not isinstance(path, Path):
            break  # each look at an object is a request, and there is no host to doubt
        try:
            sample = read_sample(path, source, settings)
        except Exception as error:
            why = why_unreadable(error)
            if why is None:
                raise
            failures.append(f"{path}: {why.removeprefix(f'{path}: ')}")
            continue
        if sample is None:
            continue
        sites |= {site: str(path) for site in sorted(sample.sites) if site not in sites}
        formats_of.setdefault(sample.fmt.label, path.name)
        if first is None:
            first = _preview_of(sample, path, len(files), source, settings)
    if first is None:
        why = failures[0] if failures else None
        empty = () if failures else ("it holds no line yet",)
        return Preview(source, files[0], len(files), source.format, (), 0, 0, {}, empty, error=why)
    doubts = [*first.doubts]
    if source.host is not None and len(sites) > 1:
        doubts.insert(0, several_sites(source.host, sites))
    if failures:
        doubts.append(f"{len(failures)} of {len(looked_at)} files cannot be read: {failures[0]}")
    return replace(first, doubts=tuple(doubts), other_formats=tuple(formats_of.items())[1:])


# What is made of it --------------------------------------------------------------------------


def _preview_of(
    sample: Sample, path: LogPath, files: int, source: LogSource, settings: Settings
) -> Preview:
    """Return the preview of one file's sample."""
    records = sample.records
    with TemporaryDirectory() as folder:
        keys = KeyRing(Path(folder), settings.privacy.rotation_days)  # nobody sees what it makes
        cleaner = Cleaner(source, settings, keys, is_bot, dt.datetime.now(dt.UTC))
        cleaned = cleaner.clean(records)
    shares = _shares(records, cleaned)
    return Preview(
        source=source,
        file=path,
        files=files,
        format=sample.fmt.label + (f", dates {source.dates}" if source.dates else ""),
        lines=tuple(lines_to_show(records, cleaned)),
        sampled=len(records),
        kept=len(cleaned.time),
        shares=shares,
        doubts=(*sample.fmt.doubts, *_doubts(records, cleaned, shares, source)),
        missing=tuple(_missing(records, settings)),
    )


def _missing(records: Records, settings: Settings) -> Iterator[str]:
    """Yield sentences on what counts of views do not tell."""
    counts, privacy = records.counts, settings.privacy
    if counts is None:
        return
    if (counts.visitors >= 0).any():
        yield "Counts of visitors: they count as views, and nobody is known by a pseudonym."
    elif (counts.views >= 0).any():
        floor = privacy.min_clients * VIEWS_PER_CLIENT
        yield (
            "Counts of views: who opened a page is not known. Instead of"
            f" {privacy.min_clients} clients, {floor} views on a day let a page be named."
        )
    else:
        yield "Counts of transits: they tell the links that lead to pages, and no views."
    if not (counts.transits >= 0).any():
        yield (
            "Where views came from is not in them: hubs and the behaviour graph need a source with"
            " referrers or transits."
        )


def _shares(records: Records, cleaned: Cleaned) -> dict[str, Share]:
    """Return, by field, the numbers of lines with a value and with a usable one."""
    lines, verdict = len(records), cleaned.verdict
    is_record = ~np.isin(verdict, (Reject.NOT_THE_FORMAT, Reject.TRUNCATED, Reject.TOO_LONG))
    has_time = is_record & ~np.isin(verdict, (Reject.BAD_TIME, Reject.FUTURE, Reject.ANCIENT))
    has_request = has_time & (verdict != Reject.BAD_REQUEST) & (verdict != Reject.BAD_STATUS)
    has_page = has_request & (verdict != Reject.BAD_URL)
    has_site = has_page & (verdict != Reject.NO_HOST)
    shares = {
        "time": Share(lines, int(has_time.sum())),
        "visitor": Share(lines, int((records.address.start >= 0).sum())),
        "page": Share(int(has_request.sum()), int(has_page.sum())),
        "site": Share(int(has_page.sum()), int(has_site.sum())),
    }
    if records.counts is not None:
        del shares["visitor"]
    if records.referrer is not None:
        shares["referrer"] = Share(cleaned.referrers_given, cleaned.referrers_usable)
    if records.agent is not None:
        named = int((records.agent.start >= 0).sum())
        shares["agent"] = Share(named, named)
    return shares


def _doubts(
    records: Records, cleaned: Cleaned, shares: dict[str, Share], source: LogSource
) -> Iterator[str]:
    """Yield sentences on what a person should check before everything is read."""
    lines = len(records)
    reasons = Counter(map(reason_of, cleaned.verdict.tolist()))
    requests = reasons.pop("kept", 0)
    rejected = sum(lost for reason, lost in reasons.items() if reason in _REJECTS)
    if not requests and rejected <= _DOUBTFUL_REJECTS * lines:
        why = ", ".join(f"{reason} {lost:,}" for reason, lost in reasons.most_common(3))
        first = f"none of the first {lines:,} lines" if lines > 1 else "not even the one line there"
        yield f"{first} is a page request that can be used ({why})"
    if rejected > _DOUBTFUL_REJECTS * lines:
        worst = max((r for r in reasons if r in _REJECTS), key=lambda reason: reasons[reason])
        yield f"{rejected:,} of {lines:,} lines are rejected, most as {worst}. {remedy(worst)}"
    if "referrer" in shares and shares["referrer"].is_useless:
        share = shares["referrer"]
        yield (
            f"{share.present - share.usable:,} of {share.present:,} referrers are no URLs and would"
            f" be left out. {USELESS_REFERRERS}"
        )
    rows = np.flatnonzero(cleaned.verdict == 0).tolist()
    addresses = {records.address.value(row) for row in rows}
    is_log = records.counts is None
    if (
        is_log
        and requests >= _SUSPICIOUS_FROM
        and len(addresses) == 1
        and source.address == "remote"
    ):
        yield (
            f"all {requests:,} page requests are of one visitor: behind a proxy, that is the proxy."
            " Read them with --address forwarded, where lines hold X-Forwarded-For"
        )


_REJECTS: Final = frozenset(reject.label for reject in Reject) - {Reject.NONE.label}
"""Reasons of rejection, as people see them."""
