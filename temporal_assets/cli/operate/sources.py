"""`temporal-assets sources`: which logs are read, what each has given, and changing that.

Here: the command. Not here: their text in `settings.toml` (`cli.sources.sources`), reading
(`ingest`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    existing_settings,
    invocation,
    settings_of,
)
from temporal_assets.cli.sources.previews import ask, show_previews
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
    source_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from temporal_assets.landing.source_verdicts import SourceVerdict
    from temporal_assets.settings import LogSource, Settings

_ACTIONS: Final = ("list", "add", "change", "remove")

_SOURCE_OPTIONS: Final = "option of a source"

_OPTIONS_OF_ACTION: Final = {
    "add": (_SOURCE_OPTIONS,),
    "change": (_SOURCE_OPTIONS, "--reset"),
    "remove": ("--forget",),
}
"""Options that each action uses; `list` uses none."""


@command
def run(
    action: Annotated[
        str,
        typer.Argument(help="list, add, change or remove.", show_default="list"),
    ] = "list",
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="As for ingest; of sources that are there, also their number in the list.",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    log_format: LogFormat = None,
    host: Hosts = None,
    timezone: Timezone = None,
    dates: Dates = None,
    address: Address = None,
    column: Columns = None,
    url_prefix: UrlPrefix = None,
    reset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION",
            help="change: this option back to its default, such as host; repeatable.",
            show_default=False,
        ),
    ] = None,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget",
            help="remove: what was read of it, too; days with other lines are made again.",
        ),
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """List the log sources with what each has given; add, change or remove some.

    Adding and changing show how the first lines are understood; `materialize` or `ingest` reads.
    """
    if action not in _ACTIONS:
        raise CommandError(f"no action {action!r}; there are {', '.join(_ACTIONS)}", USAGE)
    options = given_options(log_format, timezone, dates, address, column, url_prefix)
    if action == "list" or not paths:
        if action != "list":
            raise CommandError(f"sources {action}: name a path", USAGE)
        if paths or options or host or reset or forget:
            raise CommandError("sources list takes no path and no option of a source", USAGE)
        _list(existing_settings(state), as_json)
        return
    _refuse_unfit(action, {"--reset": reset, "--forget": forget, _SOURCE_OPTIONS: options or host})
    if action == "add":
        settings = settings_of(state)
        _store(settings, named_sources(paths, host, options, settings.sources), yes, as_json)
    elif action == "change":
        settings = existing_settings(state)
        full_paths = [_listed_source(path, settings).path for path in paths]
        sources = named_sources(full_paths, host, options, settings.sources)
        _store(settings, [_with_defaults(source, reset or []) for source in sources], yes, as_json)
    else:
        settings = existing_settings(state)
        _remove(settings, [_listed_source(path, settings) for path in paths], forget, as_json)


def _refuse_unfit(action: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the action would not use: the user expects that each does something."""
    for name, value in options.items():
        if value and name not in _OPTIONS_OF_ACTION[action]:
            raise CommandError(f"sources {action} takes no {name}", USAGE)


# List ----------------------------------------------------------------------------------------


def _list(settings: Settings, as_json: bool) -> None:
    """Show all sources with what was read from them, as a table or as JSON."""
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.source_verdicts import messages, verdicts

    source_verdicts = verdicts(Inventory.load(settings), settings)
    if as_json:
        console.write_json(
            [_report(number, verdict) for number, verdict in enumerate(source_verdicts, 1)]
        )
        return
    if not source_verdicts:
        console.say(f"No sources yet: {invocation('ingest PATH', settings.state)}")
        return
    console.show_table(
        "Log sources",
        ("no", "path", "options", "read as", "files", "lines", "kept", "rejected", "days"),
        [_row(number, verdict) for number, verdict in enumerate(source_verdicts, 1)],
    )
    for is_fault, text in messages(source_verdicts):
        (console.fail if is_fault else console.warn)(console.plain(text))


def _row(number: int, verdict: SourceVerdict) -> tuple[Any, ...]:
    """Return a row of the table of sources."""
    options = [f"{name}={value}" for name, value in _changed_options(verdict.source).items()]
    read = (
        ", ".join(verdict.formats),
        verdict.files + verdict.failed,
        verdict.lines,
        verdict.kept,
        verdict.rejected,
    )
    return (
        number,
        verdict.source.path,
        " ".join(options),
        *read,
        ranges(list(verdict.days), limit=2),
    )


def _changed_options(source: LogSource) -> dict[str, Any]:
    """Return the options of a source that differ from the defaults."""
    options = source.model_dump(mode="json", exclude_defaults=True, exclude={"path"})
    columns = options.pop("columns", {})
    return {**options, **{f"column {field}": name for field, name in columns.items()}}


def _report(number: int, verdict: SourceVerdict) -> dict[str, Any]:
    """Return a source and its results as JSON values."""
    return {
        "number": number,
        "path": verdict.source.path,
        "options": verdict.source.model_dump(mode="json", exclude_defaults=True, exclude={"path"}),
        "formats": verdict.formats,
        "files": verdict.files,
        "failed": verdict.failed,
        "lines": verdict.lines,
        "kept": verdict.kept,
        "rejected": verdict.rejected,
        "days": verdict.days,
        "faults": verdict.faults,
        "warnings": verdict.warnings,
    }


# Change --------------------------------------------------------------------------------------


def _listed_source(path: str, settings: Settings) -> LogSource:
    """Return a configured source by its number in the list or by its path."""
    sources = settings.sources
    if path.isdecimal() and 1 <= int(path) <= len(sources) and not Path(path).exists():
        return sources[int(path) - 1]
    name = source_name(path)
    for source in sources:
        if source.path in (name, path):
            return source
    there = ", ".join(source.path for source in sources) or "none"
    raise CommandError(f"no source {path}; there are {there}", USAGE)


def _with_defaults(source: LogSource, reset: Sequence[str]) -> LogSource:
    """Return a source with some options reset to their defaults."""
    names = {"column": "columns", "url-prefix": "url_prefix"}
    options = options_of(source)
    for name in reset:
        option = names.get(name, name)
        if option not in options:
            raise CommandError(f"--reset {name}: there are {', '.join(options)}", USAGE)
        del options[option]
    return type(source)(path=source.path, **options)


def _store(settings: Settings, sources: Sequence[LogSource], yes: bool, as_json: bool) -> None:
    """Show what the sources would give, ask unless `yes`, and store them in the settings."""
    from temporal_assets.cli.sources.sources import store_sources
    from temporal_assets.landing.preview import preview
    from temporal_assets.landing.preview_sample import with_order_of_dates

    refuse_mixing(settings, sources)
    sources = [with_order_of_dates(source) for source in sources]
    previews = [preview(source, settings) for source in sources]
    if not as_json:
        show_previews(previews)
        ask(previews, yes)
    useless = [
        shown_preview
        for shown_preview in previews
        if shown_preview.error or (shown_preview.is_useless and not yes)
    ]
    if useless:
        names = ", ".join(shown_preview.source.path for shown_preview in useless)
        raise CommandError(f"not stored, because nothing of them can be used: {names}")
    stored = store_sources(settings, sources)
    if as_json:
        _list(stored, as_json)
    else:
        console.say(f"{counted(len(sources), 'source')} stored. Read: {_reading(stored)}")


def _reading(settings: Settings) -> str:
    return invocation("materialize", settings.state)


def _remove(settings: Settings, sources: Sequence[LogSource], forget: bool, as_json: bool) -> None:
    """Remove sources from the settings; with `forget`, also the lines read from them."""
    from temporal_assets.cli.sources.sources import remove_sources
    from temporal_assets.landing.inventory import Inventory
    from temporal_assets.landing.landing import forget_readings
    from temporal_assets.landing.source_verdicts import source_of

    inventory = Inventory.load(settings)
    rest = remove_sources(settings, sources)
    gone = [
        file.id
        for file in inventory.files
        if source_of(file, settings.sources) in sources and source_of(file, rest.sources) is None
    ]
    if forget:
        forget_readings(rest, gone)
    if as_json:
        _list(rest, as_json)
        return
    what = "forgotten" if forget else "kept: their days stay (--forget removes them)"
    console.say(
        f"{counted(len(sources), 'source')} removed; {counted(len(gone), 'file')} that were read"
        f" from them are {what}"
    )
    if forget and gone:
        console.say(f"Make days without those lines again: {_reading(rest)}")
