"""Verdicts on sources: what reading them has given, and what is wrong with it.

Here: judging records of files that were read. Not here: reading (`reading`), exit codes and colours
(`cli`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landed_files import LandedFile
from temporal_assets.settings import LogSource, Settings

_DOUBTFUL: Final = 0.1
"""Share of rejected lines from which on a format is doubtful."""


_USEFUL: Final = 0.5
"""Share of usable values below which a field is called useless."""

_ENOUGH: Final = 20
"""Number of values below which no field is called useless."""

USELESS_REFERRERS: Final = (
    "If another column holds the rest of them, join both: --column 'referrer={HOST}{PATH}'; else"
    " nothing will be known of the links that led to pages"
)


def several_sites(host: str, sites: Mapping[str, str]) -> str:
    """Return a warning if one host is configured for what the server calls several sites.

    Args:
        host: The configured host.
        sites: Names that the server has for them, each with a file of it.
    """
    named = "; ".join(f"{site} in {path}" for site, path in list(sites.items())[:3])
    return (
        f"these are {len(sites)} sites of the server ({named}), and all become {host}: read each"
        " with its own --host, or let the server log cs-host"
    )


@dataclass(frozen=True, slots=True)
class Share:
    """Numbers of lines with a value of a field, and with a usable one."""

    present: int
    usable: int

    @property
    def is_useless(self) -> bool:
        """True if most values cannot be used."""
        return self.present >= _ENOUGH and self.usable < _USEFUL * self.present


@dataclass(frozen=True, slots=True)
class SourceVerdict:
    """Verdict on a source: its numbers, faults and warnings."""

    source: LogSource
    files: int
    """Files that were read and count."""
    lines: int
    kept: int
    rejected: int
    days: tuple[dt.date, ...]
    formats: tuple[str, ...]
    failed: int
    """Files that cannot be read."""
    faults: tuple[str, ...] = ()
    """Sentences: why nothing of it, or of one of its fields, can be used, and what to do."""
    warnings: tuple[str, ...] = ()
    """Sentences on faults of a part of it."""

    @property
    def is_readable(self) -> bool:
        """True if any of its files could be read, or it has none."""
        return bool(self.files) or not self.failed

    @property
    def gives_nothing(self) -> bool:
        """True if it has lines, and none of them can be used."""
        return not self.is_readable or bool(self.lines and not self.kept)


def verdicts(inventory: Inventory, settings: Settings) -> list[SourceVerdict]:
    """Return a verdict for every source, in the order of the settings."""
    read: dict[str, list[LandedFile]] = {source.path: [] for source in settings.sources}
    for file in (*inventory.active, *inventory.failed):
        source = source_of(file, settings.sources)
        if source is not None:
            read[source.path].append(file)
    return [_verdict(source, read[source.path]) for source in settings.sources]


def source_of(file: LandedFile, sources: Sequence[LogSource]) -> LogSource | None:
    """Return the first source that a file belongs to, even if the file is gone, or None."""
    return next(
        (source for source in sources for seen in file.sightings if covers(source, seen.path)), None
    )


def covers(source: LogSource, path: str) -> bool:
    """Return True if a source's path names a file: itself, a folder above it, or by a glob."""
    return fnmatch(path, source.path) or Path(path).is_relative_to(source.path)


def _verdict(source: LogSource, files: Sequence[LandedFile]) -> SourceVerdict:
    """Return what reading a source's files has shown: counts, faults and warnings."""
    failed = [file for file in files if file.error]
    # What was read under other options before still counts, and says nothing of these.
    failing = {file.sightings[0].path for file in failed}
    whole = [file for file in files if not file.error and file.sightings[-1].path not in failing]
    lines = sum(file.lines for file in whole)
    kept = sum(share.rows for file in whole for share in file.days.values())
    losses = _losses(whole)
    rejected = sum(count for (kind, _), count in losses.items() if kind == "rejected")
    faults: list[str] = []
    warnings: list[str] = []
    if failed:
        more = f" and {len(failed) - 1:,} more" if len(failed) > 1 else ""
        sentence = (
            f"{source.path}: {len(failed):,} of {len(failed) + len(whole):,} files cannot be read:"
            f" {failed[0].error}{more}"
        )
        (warnings if whole else faults).append(sentence)
    if lines and not kept:
        faults.append(_nothing_kept(source, lines, losses))
    elif rejected > _DOUBTFUL * lines:
        warnings.append(_many_rejected(source, lines, losses))
    sites = {site: file.sightings[0].path for file in whole for site in file.server_sites}
    if source.host is not None and len(sites) > 1:
        warnings.append(f"{source.path}: {several_sites(source.host, sites)}")
    referrers = Share(
        sum(file.referrers_given for file in whole), sum(file.referrers_usable for file in whole)
    )
    if referrers.is_useless:
        lost = referrers.present - referrers.usable
        faults.append(
            f"{source.path}: {lost:,} of {referrers.present:,} referrers are no URLs and were left"
            f" out. {USELESS_REFERRERS}"
        )
    return SourceVerdict(
        source=source,
        files=len(whole),
        lines=lines,
        kept=kept,
        rejected=rejected,
        days=tuple(sorted({day for file in whole for day in file.days})),
        formats=tuple(sorted({file.format for file in whole})),
        failed=len(failed),
        faults=tuple(faults),
        warnings=tuple(warnings),
    )


def _losses(files: Iterable[LandedFile]) -> Counter[tuple[str, str]]:
    """Return lines that were not kept, by kind and reason."""
    losses: Counter[tuple[str, str]] = Counter()
    for file in files:
        for share in file.days.values():
            for loss in share.losses:
                losses[loss["kind"], loss["reason"]] += loss["lines"]
    return losses


def _nothing_kept(source: LogSource, lines: int, losses: Counter[tuple[str, str]]) -> str:
    """Return the sentence on a source of which no line is kept."""
    from temporal_assets.logs.read.records import remedy

    (kind, reason), count = losses.most_common(1)[0]
    what = remedy(reason) if kind == "rejected" else _NO_PAGES.get(reason, "")
    return (
        f"{source.path}: none of {lines:,} lines is a page request that can be used, and {count:,}"
        f" are {kind} as {reason}. {what}"
    ).rstrip()


def _many_rejected(source: LogSource, lines: int, losses: Counter[tuple[str, str]]) -> str:
    """Return the sentence on a source of which many lines are rejected."""
    from temporal_assets.logs.read.records import remedy

    reasons = Counter({reason: n for (kind, reason), n in losses.items() if kind == "rejected"})
    reason, _ = reasons.most_common(1)[0]
    return (
        f"{source.path}: {reasons.total():,} of {lines:,} lines are rejected, most as {reason}."
        f" {remedy(reason)}"
    )


_NO_PAGES: Final = {
    "bot_agent": "All are of programs that say so: is it the log of a site that people visit?",
    "static": "All ask for images, styles and scripts: is it the log of a host of static files?",
    "status": "No answer has the status 200, 206 or 304: is the right field taken for it?",
    "method": "No request has the method GET: is the right field taken for it?",
}
"""Questions to the user if nothing is kept although every line is complete."""


def messages(verdicts: Iterable[SourceVerdict]) -> Iterator[tuple[bool, str]]:
    """Yield (is a fault, sentence) for all that is wrong."""
    for verdict in verdicts:
        yield from ((True, fault) for fault in verdict.faults)
        yield from ((False, warning) for warning in verdict.warnings)
