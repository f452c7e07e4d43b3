"""Command-line options that say how logs are read, and log sources made from them.

Here: what `ingest` and `sources` share. Not here: `settings.toml` (`sources`), previews
(`previews`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared.exits import USAGE, CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.settings import LogSource, Settings

FORMAT_NAMES: Final = (
    "combined, combined_vhost, common, common_vhost, gandi, ovh, nginx_json, fluent_json, "
    "caddy_json, traefik_json, w3c, iis, cloudfront, cloudfront_json, cloudflare_json, "
    "akamai_json, google_json, azure_json, alb, elb, s3, squid, haproxy, envoy, jsonl, csv, "
    "tsv, parquet, ga4_json, matomo_json, snowplow, wikipedia_pageviews, wikipedia_days, "
    "wikipedia_clickstream"
)
"""Names of all formats, written out because the formats take a second to load; a test compares
them."""

LogFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        show_default="auto",
        help=f"auto (from the first lines), {FORMAT_NAMES}, nginx: or apache: and the log "
        "format that the server was given, or regex:PATTERN with named groups.",
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        help="Host of the site, where lines do not name it: one for all paths, or one for each in"
        " their order.",
        show_default=False,
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        help="Zone of times without an offset, such as Europe/Berlin.", show_default="UTC"
    ),
]
Dates = Annotated[
    str | None,
    typer.Option(
        help="Order of dates like 5/1/2026 in csv and tsv, where no number above 12 tells it:"
        " day-first or month-first.",
        show_default=False,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Who the visitor is: remote, or forwarded (first of X-Forwarded-For).",
        show_default="remote",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=COLUMN",
        help="Where csv, tsv, parquet and jsonl keep our fields time, address, url, "
        "referrer, status, method, agent; several joined as 'url={host}{path}'; repeatable.",
        show_default=False,
    ),
]
UrlPrefix = Annotated[
    str | None,
    typer.Option(
        help="What stands before pages that are logged as bare ids or names:"
        " https://www.example.com/article/.",
        show_default=False,
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Go on also where something is doubtful or useless.")
]


def given_options(
    log_format: str | None,
    timezone: str | None,
    dates: str | None,
    address: str | None,
    column: list[str] | None,
    url_prefix: str | None,
) -> dict[str, Any]:
    """Return the options that the user gave, named as in settings.toml."""
    options = {
        "format": log_format,
        "timezone": timezone,
        "dates": dates,
        "address": address,
        "columns": _column_options(column) if column else None,
        "url_prefix": url_prefix,
    }
    return {name: value for name, value in options.items() if value is not None}


def named_sources(
    paths: Sequence[str],
    hosts: Sequence[str] | None,
    options_of_call: dict[str, Any],
    listed: Sequence[LogSource],
) -> list[LogSource]:
    """Return a source for each path, with its host.

    Args:
        paths: Paths as typed.
        hosts: No host, one for all paths, or one for each.
        options_of_call: Options of `given_options`.
        listed: Sources that the settings have already.
    """
    hosts = hosts or []
    if len(hosts) not in (0, 1, len(paths)):
        raise CommandError(
            f"{len(hosts)} hosts for {len(paths)} paths: give one for all, or one for each in the"
            " order of the paths",
            USAGE,
        )
    if len(hosts) == 1:
        hosts = [*hosts] * len(paths)
    of_each: list[str | None] = [*hosts] or [None] * len(paths)
    return [
        named_source(path, options_of_call | ({"host": host} if host else {}), listed)
        for path, host in zip(paths, of_each, strict=True)
    ]


def named_source(
    path: str, options_of_call: dict[str, Any], listed: Sequence[LogSource]
) -> LogSource:
    """Return a source for a path, after all checks that need no file to be opened.

    Missing options are copied from the listed source of that path, if there is one, or else from
    the listed sources within the path, if all of these agree. Raises `CommandError`.
    """
    from pydantic import ValidationError

    from temporal_assets.cli.sources.sources import is_within
    from temporal_assets.logs.detect.resolve import resolve
    from temporal_assets.logs.formats.columns import check
    from temporal_assets.logs.read.paths import NoSuchLogError, expand
    from temporal_assets.settings import LogSource

    if path == "-":
        raise CommandError(
            "standard input is no source that can be read again: `ingest - --name NAME` reads it"
            " once",
            USAGE,
        )
    if _is_no_text(path):
        raise CommandError(f"{path!a}: the name is no UTF-8; name its folder instead", USAGE)
    try:
        name = source_name(path)
        earlier_options = next(
            (options_of(source) for source in listed if source.path == name), None
        )
        if earlier_options is None:
            wide = LogSource(path=name)
            within = [options_of(source) for source in listed if is_within(source, wide)]
            earlier_options = (
                within[0] if within and all(options == within[0] for options in within) else {}
            )
        source = LogSource(path=name, **(earlier_options | options_of_call))
        expand(source.path)
        resolve(source, b"")
        check(source.columns)
    except NoSuchLogError as error:
        raise CommandError(str(error), USAGE) from None
    except ValidationError as error:
        first = error.errors()[0]
        option = ".".join(str(part) for part in first["loc"]).replace("_", "-")
        why = first["msg"].removeprefix("Value error, ")
        raise CommandError(f"--{option} {first['input']}: {why}", USAGE) from None
    except ValueError as error:
        raise CommandError(str(error), USAGE) from None
    return source


def source_name(path: str) -> str:
    """Return a path as settings.toml stores it: absolute, because other folders use it too."""
    from temporal_assets.settings.sources import is_url

    return path.rstrip("/") if is_url(path) else str(Path(path).expanduser().absolute())


def options_of(source: LogSource) -> dict[str, Any]:
    """Return the options of a source, without its path."""
    return source.model_dump(exclude={"path"})


def refuse_mixing(settings: Settings, sources: Sequence[LogSource]) -> None:
    """Raise `CommandError` if sources would mix real visitors with those of a demo."""
    from temporal_assets.demo.corpus import corpus_of

    demos = {
        known_source.path: corpus_of(Path(known_source.path))
        for known_source in (*settings.sources, *sources)
    }
    real = [path for path, demo in demos.items() if demo is None]
    if real and any(demos.values()):
        raise CommandError(
            f"{real[0]} would be mixed with the logs of the demo in {settings.state}: give your "
            "own logs a state folder with --state or TEMPORAL_ASSETS_STATE",
            USAGE,
        )


def _column_options(pairs: list[str]) -> dict[str, str]:
    columns = {}
    for pair in pairs:
        field, equals, name = pair.partition("=")
        if not (field and equals and name):
            raise CommandError(f"--column {pair}: write FIELD=COLUMN, like url=request_url", USAGE)
        columns[field] = name
    return columns


def _is_no_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return True  # settings.toml could not hold it
    return False
