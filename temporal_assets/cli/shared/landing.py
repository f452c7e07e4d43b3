"""Reading new log files with a progress bar, and showing what they held.

Here: what `ingest`, `demo` and `materialize` share of it. Not here: reading (`landing.landing`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.days import ranges

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from temporal_assets.landing.landed_files import LandedFile
    from temporal_assets.landing.landing import LandingReport
    from temporal_assets.logs.read.objects import LogPath
    from temporal_assets.settings import Settings

_FILES_SHOWN: Final = 40
"""Rows of one table that a person reads; `--json` lists every file."""

_TROUBLES_SHOWN: Final = 10
"""Files whose problems are printed: with more, most have the same."""

_SAMPLES_SHOWN: Final = 3
"""Malformed lines shown; all that were kept are in `rejects`."""


def land(settings: Settings, anew: Collection[str] = ()) -> LandingReport:
    """Read every new or changed log file of the sources; those of `anew` are listed as a whole."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.landing.landing import refresh

    read: dict[LogPath, int] = {}
    with console.progress_bar("Reading logs", None, in_bytes=True) as bar:

        def begin(size: int) -> None:
            bar.at(0, size)

        def advance(path: LogPath, done: int, _size: int) -> None:
            read[path] = done
            bar.at(sum(read.copy().values()))

        # Its session stays open: what the command does next goes on with it.
        spread = engine_of(settings).spread
        return refresh(settings, advance, spread=spread, anew=anew, begin=begin)


def file_report(file: LandedFile) -> dict[str, Any]:
    """Return what is known of one file, for JSON."""
    return {
        "file": file.sightings[-1].path,
        "format": file.format,
        "lines": file.lines,
        "kept": page_requests(file),
        "dropped": losses(file, "dropped"),
        "rejected": losses(file, "rejected"),
        "days": sorted(file.days),
        "has_referrers": file.has_referrers,
        "problem": file.problem,
        "error": file.error,
    }


def page_requests(file: LandedFile) -> int:
    """Return the number of page requests that were kept of a file."""
    return sum(share.rows for share in file.days.values())


def losses(file: LandedFile, kind: str) -> dict[str, int]:
    """Return the lines of a file that were dropped or rejected: numbers by reason, most first."""
    total: Counter[str] = Counter()
    for share in file.days.values():
        for loss in share.losses:
            if loss["kind"] == kind:
                total[loss["reason"]] += loss["lines"]
    return dict(total.most_common())


def show_landing(report: LandingReport) -> None:
    """Print a row for each file that was read, then the files that need attention."""
    files = report.landed
    if files:
        shown = files[:_FILES_SHOWN]
        console.show_table(
            "Log files read",
            ("file", "format", "lines", "kept", "dropped", "rejected", "days"),
            [_row(file) for file in shown],
        )
        if len(files) > len(shown):
            console.say(f"and {counted(len(files) - len(shown), 'more file')}")
        lines, rows = sum(file.lines for file in files), sum(map(page_requests, files))
        same = f"{counted(report.copies, 'file')} with the same content, " if report.copies else ""
        console.say(
            f"{counted(len(files), 'file')}, {counted(lines, 'line')}, "
            f"{rows:,} page requests kept; {same}{counted(report.unchanged, 'file')} known already"
        )
    else:
        console.say(f"No new log files; {counted(report.unchanged, 'file')} known already")
    show_troubles(report)


def show_troubles(report: LandingReport) -> None:
    """Show the faults of files that were read or could not be read."""
    doubtful = [file for file in report.landed if file.problem or _is_doubtful(file)]
    for file in doubtful[:_TROUBLES_SHOWN]:
        if file.problem:
            console.warn(f"{file.name}: {file.problem}")
        _warn_of_format(file)
    _say_how_many_more(doubtful, "with such lines")
    for message in report.warnings:
        console.warn(message)
    without = [
        file
        for file in report.landed
        if file.lines and not file.has_referrers and not file.is_counted
    ]
    if any(file.is_counted for file in report.landed):
        console.say(_sentence_on_counts(report.landed))
    if without:
        formats = ", ".join(sorted({file.format for file in without}))
        advice = " or ".join(sorted({_option_for_referrers(file) for file in without}))
        console.warn(
            f"{counted(len(without), 'file')} in a format without referrers ({formats}): the "
            "visits count as views, but nothing is known of the links that led there, so hubs and "
            f"the behaviour graph will not see them. If its lines do name referrers, say {advice} "
            "(docs/log-formats.md)"
        )
    failed = sorted(report.failed, key=lambda file: file.name)
    for file in failed[:_TROUBLES_SHOWN]:
        console.warn(console.plain(file.error))
    _say_how_many_more(failed, "that cannot be read: `ingest --json` names them")


def _sentence_on_counts(files: Sequence[LandedFile]) -> str:
    """Return a sentence on what counts of views leave out: who opened a page, and where from."""
    counts = [file for file in files if file.is_counted]
    links = "" if any(file.has_referrers for file in counts) else ", nor where they came from"
    return (
        f"{counted(len(counts), 'file')} with counts of views: they do not say who opened a"
        f" page{links}. What follows from that is in docs/counts.md"
    )


def _option_for_referrers(file: LandedFile) -> str:
    """Return advice for lines that name referrers in a field that was not recognised."""
    from temporal_assets.logs.formats.format import Syntax
    from temporal_assets.logs.formats.known_formats import FORMATS, NAMED

    name = file.format.split()[0]
    if name in NAMED:
        return "under which name: `--column referrer=NAME`"
    if name in FORMATS and FORMATS[name].syntax is Syntax.DIRECTIVES:
        return "so in #Fields:, where the server is told to log `cs(Referer)`"
    return "what the server was told to write: `--format nginx:…`"


def _say_how_many_more(files: Sequence[LandedFile], what: str) -> None:
    if len(files) > _TROUBLES_SHOWN:
        console.warn(f"and {counted(len(files) - _TROUBLES_SHOWN, 'more file')} {what}")


def _is_doubtful(file: LandedFile) -> bool:
    """Return True if a tenth of the lines or more were rejected."""
    rejected = sum(losses(file, "rejected").values())
    return bool(rejected) and rejected * 10 >= file.lines


def _warn_of_format(file: LandedFile) -> None:
    """Warn of a file of which many lines are rejected, with a remedy."""
    if not _is_doubtful(file):
        return
    reasons = losses(file, "rejected")
    rejected = sum(reasons.values())
    nameless = reasons.get("no_host", 0)
    if 2 * nameless > rejected:
        console.warn(
            f"{file.name}: {nameless:,} of {file.lines:,} lines do not name their site, and are "
            "left out: read them again with `--host www.example.com`, or set `host` of the source"
        )
        return
    likely = f" It looks like `{file.likely_format}`." if file.likely_format else ""
    console.warn(
        f"{file.name}: {rejected:,} of {file.lines:,} lines cannot be read as `{file.format}`."
        f"{likely} For example:"
    )
    samples = [
        sample
        for share in file.days.values()
        for loss in share.losses
        if loss["kind"] == "rejected"
        for sample in loss["samples"]
    ]
    for line, text in samples[:_SAMPLES_SHOWN]:
        console.say(f"    line {line}: {text}")


def _row(file: LandedFile) -> tuple[Any, ...]:
    """Return a file as a row of the table of files."""
    return (
        file.name,
        file.format,
        file.lines,
        page_requests(file),
        _reasons_as_text(losses(file, "dropped")),
        _reasons_as_text(losses(file, "rejected")),
        ranges(sorted(file.days), limit=3),
    )


def _reasons_as_text(reasons: dict[str, int]) -> str:
    return ", ".join(f"{reason} {lines:,}" for reason, lines in reasons.items())


def gives_nothing(settings: Settings) -> bool:
    """Return True if any source is entirely unusable.

    An unusable source is a failure; one bad file among others is a warning.
    """
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.source_verdicts import verdicts

    return any(verdict.gives_nothing for verdict in verdicts(Inventory.load(settings), settings))
