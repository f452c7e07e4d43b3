"""`temporal-assets ingest`: name log files once, see how they are understood, and read them.

Here: the command. Not here: `settings.toml` (`cli.sources.sources`), previews (`landing.preview`),
reading (`landing.landing`), and what is made of the lines (`materialize`).
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.exits import FAILED, USAGE, CommandError, command
from temporal_assets.cli.shared.landing import file_report, land, page_requests, show_landing
from temporal_assets.cli.shared.options import Json, State, invocation, settings_of
from temporal_assets.cli.shared.standard_input import STANDARD_INPUT
from temporal_assets.cli.sources.previews import ask, preview_report, show_previews
from temporal_assets.cli.sources.source_options import (
    Address,
    Columns,
    Dates,
    Hosts,
    LogFormat,
    Timezone,
    UrlPrefix,
    Yes,
    given_options,
    named_sources,
    options_of,
    refuse_mixing,
)
from temporal_assets.machine.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.landing.landing import LandingReport
    from temporal_assets.landing.preview import Preview
    from temporal_assets.landing.source_verdicts import SourceVerdict
    from temporal_assets.logs.read.objects import LogPath
    from temporal_assets.settings import LogSource, Settings

_PIPED: Final = "standard-input"
"""Name of the temporary folder for standard input; messages show it."""

_COPIED_AT_ONCE: Final = 1 << 20


@command
def run(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Log files, folders (read recursively), quoted globs, URLs of object stores, or - "
            "for standard input; gzip, zstd, bzip2 and xz are unpacked while reading.",
            show_default=False,
        ),
    ],
    state: State = None,
    log_format: LogFormat = None,
    host: Hosts = None,
    timezone: Timezone = None,
    dates: Dates = None,
    address: Address = None,
    column: Columns = None,
    url_prefix: UrlPrefix = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the log that standard input (-) holds, for tables and messages.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show how the first lines are understood; read and store nothing."
        ),
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Add log files to the sources in settings.toml and read them.

    Shows first how their lines are understood, and asks on a terminal where that is doubtful.
    Naming a path again with options replaces these, keeps its others, and reads its files anew;
    unchanged files are not read twice. A source that gives nothing is not stored.
    """
    settings = settings_of(state)
    options = given_options(log_format, timezone, dates, address, column, url_prefix)
    with _piped(paths, name, None if dry_run else settings) as named:
        sources = named_sources(named, host, options, settings.sources)
        is_well = _ingest(settings, sources, dry_run, yes, as_json, is_stored=named is paths)
    if not is_well:
        raise typer.Exit(FAILED)


@contextmanager
def _piped(paths: list[str], name: str | None, settings: Settings | None) -> Iterator[list[str]]:
    """Yield the paths, standard input as a file that is there until the end of the block.

    The file is in the state folder, or without settings in the system's temporary folder.
    """
    if STANDARD_INPUT not in paths:
        if name is not None:
            raise CommandError(f"--name {name} names standard input: give - as the path", USAGE)
        yield paths
        return
    if paths != [STANDARD_INPUT]:
        raise CommandError("standard input (-) is read by itself, without other paths", USAGE)
    if not name or Path(name).name != name:
        raise CommandError("name what standard input holds: --name access-2026-01-31.log", USAGE)
    if settings is not None:
        settings.make_state()
    with scratch_folder(settings.state / "tmp") if settings else TemporaryDirectory() as scratch:
        file = Path(scratch, _PIPED, name)
        file.parent.mkdir()
        with file.open("wb") as log:
            shutil.copyfileobj(sys.stdin.buffer, log, _COPIED_AT_ONCE)
        yield [str(file)]


def _ingest(
    settings: Settings,
    sources: Sequence[LogSource],
    dry_run: bool,
    yes: bool,
    as_json: bool,
    *,
    is_stored: bool,
) -> bool:
    """Show how sources are understood, and read them; False if any gives nothing."""
    from temporal_assets.landing.preview import preview
    from temporal_assets.landing.preview_sample import with_order_of_dates

    refuse_mixing(settings, sources)
    sources = [with_order_of_dates(source) for source in sources]
    new = [source for source in sources if dry_run or source not in settings.sources]
    previews = [preview(source, settings) for source in new]
    if not as_json:
        show_previews(previews, with_errors=dry_run or console.is_interactive())
    if dry_run:
        if as_json:
            console.write_json([preview_report(shown_preview) for shown_preview in previews])
        return not all(shown_preview.is_useless for shown_preview in previews)
    if not as_json:
        ask(previews, yes)
    return _read(settings, sources, previews, yes, as_json, is_stored=is_stored)


def _read(
    settings: Settings,
    sources: Sequence[LogSource],
    previews: Sequence[Preview],
    yes: bool,
    as_json: bool,
    *,
    is_stored: bool,
) -> bool:
    """Read the sources, store those that give something, and say what came of it."""
    from temporal_assets.cli.sources.sources import store_sources, with_sources
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.source_verdicts import verdicts

    candidate = settings.model_copy(update={"sources": with_sources(settings.sources, sources)})
    named = {source.path for source in sources}
    report = land(candidate, named)
    source_verdicts = verdicts(Inventory.load(candidate), candidate)
    failed = [
        verdict
        for verdict in source_verdicts
        if verdict.source.path in named and _is_failure(verdict, yes)
    ]
    refused = {verdict.source.path for verdict in failed}
    if failed:
        _forget(candidate, [verdict.source for verdict in failed], report)
    usable = [source for source in sources if source.path not in refused]
    stored = store_sources(settings, usable) if usable and is_stored else settings
    overruled = _overruled(stored, usable if is_stored else [])
    if as_json:
        console.write_json(
            {
                "state": str(settings.state),
                "previews": [preview_report(verdict) for verdict in previews],
                "files": [file_report(file) for file in (*report.landed, *report.failed)],
                "copies": report.copies,
                "unchanged": report.unchanged,
                "days": report.days,
                "missing": report.missing,
                "warnings": [
                    *report.warnings,
                    *(text for verdict in source_verdicts for text in verdict.warnings),
                ],
                "faults": [text for verdict in source_verdicts for text in verdict.faults],
                "not_stored": sorted(refused),
            }
        )
        return not failed
    shown = {f"{seen.source.path}: {doubt}" for seen in previews for doubt in seen.doubts}
    sentences = [
        text for verdict in source_verdicts for text in (*verdict.faults, *verdict.warnings)
    ]
    unnamed = [
        file for file in report.failed if not any(str(file.error) in text for text in sentences)
    ]
    show_landing(replace(report, failed=tuple(unnamed)))
    for message in (*report.missing, *overruled):
        console.warn(message)
    _show_verdicts(source_verdicts, failed, shown)
    if usable and (any(map(page_requests, report.landed)) or not report.landed):
        _say_what_next(stored)
    return not failed


def _is_failure(verdict: SourceVerdict, yes: bool) -> bool:
    """Return True if a source must not be stored: unreadable, or its problems were not accepted."""
    return not verdict.is_readable or bool(verdict.faults and not yes)


def _forget(candidate: Settings, refused: Sequence[LogSource], report: LandingReport) -> None:
    """Remove everything that was read of sources that are not stored."""
    from temporal_assets.landing.landing import forget_readings
    from temporal_assets.landing.source_verdicts import source_of

    files = [
        file.id
        for file in (*report.landed, *report.failed)
        if source_of(file, candidate.sources) in refused
    ]
    forget_readings(candidate, files)


def _show_verdicts(
    source_verdicts: Sequence[SourceVerdict], failed: Sequence[SourceVerdict], shown: set[str]
) -> None:
    """Show what is wrong with sources, but for warnings that their preview has shown."""
    for verdict in source_verdicts:
        for warning in verdict.warnings:
            if warning not in shown:
                console.warn(console.plain(warning))
        for fault in verdict.faults:
            console.fail(console.plain(fault))
    if failed:
        names = ", ".join(console.plain(verdict.source.path) for verdict in failed)
        accept = (
            " --yes stores it all the same."
            if any(verdict.is_readable for verdict in failed)
            else ""
        )
        console.say(f"Not stored: {names}.{accept}")


def _overruled(settings: Settings, named: Sequence[LogSource]) -> list[str]:
    """Return warnings for files that another source reads, with other options than just given."""
    from temporal_assets.settings import SETTINGS_FILE

    first: dict[LogPath, LogSource] = {}
    for source in settings.sources:
        for path in _files(source):
            first.setdefault(path, source)
    messages = []
    for source in named:
        others = {path: first[path] for path in _files(source)}
        own = [path for path, other in others.items() if options_of(other) != options_of(source)]
        if own:
            messages.append(
                f"{counted(len(own), 'file')} of {source.path} with options of another source, as"
                f" {own[0]} of {others[own[0]].path}: the first that lists a file in"
                f" {settings.state / SETTINGS_FILE} decides"
            )
    return messages


def _files(source: LogSource) -> list[LogPath]:
    from temporal_assets.logs.read.paths import NoSuchLogError, expand

    try:
        return [path.absolute() for path in expand(source.path)]
    except NoSuchLogError:
        return []  # another source, which is away


def _say_what_next(settings: Settings) -> None:
    if _is_anything_late(settings):
        console.say(f"Next: {invocation('materialize', settings.state)}")
    else:
        console.say(f"Nothing to build. What is there: {invocation('status', settings.state)}")


def _is_anything_late(settings: Settings) -> bool:
    """Return whether `materialize` has something to do, or to say."""
    from temporal_assets.days.staleness import stale
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.storage.integrity import DamagedFile
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.registry import due

    store = Store.open(settings)
    try:
        late = stale(store, Inventory.load(settings), settings)
        return any(late.values()) or due(store, settings) is not None
    except DamagedFile:
        return True
