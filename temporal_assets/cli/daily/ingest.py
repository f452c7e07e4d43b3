"""`temporal-assets ingest`: name log files once, and read them.

Here: the command. Not here: `settings.toml` (`sources`), reading (`landing.landing`), and what
is made of the lines (`materialize`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.console import counted
from temporal_assets.cli.shared.exits import FAILED, USAGE, CommandError, command
from temporal_assets.cli.shared.landing import file_report, kept, land, show_landing
from temporal_assets.cli.shared.options import Json, State, invocation, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.settings import LogSource, Settings

FORMAT_NAMES: Final = (
    "combined, combined_vhost, common, common_vhost, gandi, ovh, nginx_json, caddy_json, "
    "traefik_json, w3c, iis, cloudfront, cloudfront_json, cloudflare_json, akamai_json, "
    "google_json, azure_json, alb, elb, s3, squid, haproxy, envoy, jsonl, csv, tsv, parquet"
)
"""Written out, because the formats themselves take a second to load; a test compares the two."""


@command
def run(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Log files, folders (read recursively) or quoted globs; gzip, zstd, bzip2 and xz "
            "are unpacked while reading.",
            show_default=False,
        ),
    ],
    state: State = None,
    log_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            show_default="auto",
            help=f"auto (from the first lines), {FORMAT_NAMES}, nginx: or apache: and the log "
            "format that the server was given, or regex:PATTERN with named groups.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(help="Host of the site, where lines do not name it.", show_default=False),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(help="https or http, where lines do not say it.", show_default="https"),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            help="Zone of times without an offset, such as Europe/Berlin.", show_default="UTC"
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            help="Who the visitor is: remote, or forwarded (first of X-Forwarded-For).",
            show_default="remote",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=COLUMN",
            help="Where csv, tsv, parquet and jsonl keep our fields time, address, url, "
            "referrer, status, method, agent; repeatable.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add log files to the sources in settings.toml and read them.

    Naming a path again with options replaces these, keeps its others, and reads its files anew;
    unchanged files are not read twice.
    """
    from temporal_assets.cli.shared.sources import add_sources

    settings = settings_of(state)
    options = {
        "format": log_format,
        "host": host,
        "scheme": scheme,
        "timezone": timezone,
        "address": address,
        "columns": _columns(column) if column else None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    sources = [_source(path, given, settings.sources) for path in paths]
    _refuse_mixing(settings, sources)
    settings = add_sources(settings, sources)
    overruled = _overruled(settings, sources)
    report = land(settings)
    if as_json:
        console.write_json(
            {
                "state": str(settings.state),
                "files": [file_report(file) for file in (*report.landed, *report.failed)],
                "copies": report.copies,
                "unchanged": report.unchanged,
                "days": report.days,
                "missing": report.missing,
                "warnings": report.warnings,
            }
        )
    else:
        show_landing(report)
        for message in (*report.missing, *overruled):
            console.warn(message)
        if any(map(kept, report.landed)) or not report.landed:
            _say_what_next(settings)
    if report.failed:
        raise typer.Exit(FAILED)


def _refuse_mixing(settings: Settings, sources: Sequence[LogSource]) -> None:
    """Real visitors must not end up among those of a demo."""
    from temporal_assets.demo.corpus import corpus_of

    demos = {one.path: corpus_of(Path(one.path)) for one in (*settings.sources, *sources)}
    real = [path for path, demo in demos.items() if demo is None]
    if real and any(demos.values()):
        raise CommandError(
            f"{real[0]} would be mixed with the logs of the demo in {settings.state}: give your "
            "own logs a state folder with --state or TEMPORAL_ASSETS_STATE",
            USAGE,
        )


def _overruled(settings: Settings, named: Sequence[LogSource]) -> list[str]:
    """What is to be said of files that are not read with the options just given for them."""
    from temporal_assets.settings import SETTINGS_FILE

    first: dict[Path, LogSource] = {}
    for source in settings.sources:
        for path in _files(source):
            first.setdefault(path, source)
    messages = []
    for source in named:
        others = {path: first[path] for path in _files(source)}
        own = [path for path, other in others.items() if _options(other) != _options(source)]
        if own:
            messages.append(
                f"{counted(len(own), 'file')} of {source.path} with options of another source, as"
                f" {own[0]} of {others[own[0]].path}: the first that lists a file in"
                f" {settings.state / SETTINGS_FILE} decides"
            )
    return messages


def _files(source: LogSource) -> list[Path]:
    from temporal_assets.logs.read.paths import NoSuchLogError, expand

    try:
        return [path.absolute() for path in expand(source.path)]
    except NoSuchLogError:
        return []  # another source, which is away


def _options(source: LogSource) -> dict[str, Any]:
    return source.model_dump(exclude={"path"})


def _say_what_next(settings: Settings) -> None:
    if _is_anything_late(settings):
        console.say(f"Next: {invocation('materialize', settings.state)}")
    else:
        console.say(f"Nothing to build. What is there: {invocation('status', settings.state)}")


def _is_anything_late(settings: Settings) -> bool:
    """Whether `materialize` has something to do, or to say."""
    from temporal_assets.days.daily import stale
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


def _columns(pairs: list[str]) -> dict[str, str]:
    columns = {}
    for pair in pairs:
        field, equals, name = pair.partition("=")
        if not (field and equals and name):
            raise CommandError(f"--column {pair}: write FIELD=COLUMN, like url=request_url", USAGE)
        columns[field] = name
    return columns


def _source(path: str, given: dict[str, Any], known: Sequence[LogSource]) -> LogSource:
    """A source that can be read as far as can be told without opening a file.

    Options that are not given are those of the known source of that path, if there is one.
    """
    from pydantic import ValidationError

    from temporal_assets.logs.formats.columns import check
    from temporal_assets.logs.formats.detect import resolve
    from temporal_assets.logs.read.paths import NoSuchLogError, expand
    from temporal_assets.settings import LogSource

    if path == "-":
        raise CommandError(
            "standard input is not read: name the files, packed ones too. They are known again, so "
            "that no line counts twice",
            USAGE,
        )
    if _is_no_text(path):
        raise CommandError(f"{path!a}: the name is no UTF-8; name its folder instead", USAGE)
    try:
        # Absolute: the settings are used from other folders than this one.
        name = str(Path(path).expanduser().absolute())
        kept = next((_options(source) for source in known if source.path == name), {})
        source = LogSource(path=name, **(kept | given))
        expand(source.path)
        resolve(source, b"")
        check(source.columns)
    except NoSuchLogError as error:
        raise CommandError(str(error), USAGE) from None
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        raise CommandError(f"--{name} {first['input']}: {why}", USAGE) from None
    except ValueError as error:
        raise CommandError(str(error), USAGE) from None
    return source


def _is_no_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return True  # settings.toml could not hold it
    return False
