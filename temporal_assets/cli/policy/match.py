"""`temporal-assets policy match`: what the policy says of URLs, a line each.

Here: lines in, lines out, in constant memory. Not here: deciding (`policy.matcher`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import State
from temporal_assets.cli.shared.policies import PolicyPath, policy_path
from temporal_assets.cli.shared.standard_input import arrivals, written

if TYPE_CHECKING:
    from temporal_assets.policy import Decision, Policy

_LINES: Final = 16_384
"""Most lines that are matched together."""

_COLUMNS: Final = (
    "url", "decision", "tier", "reason", "site", "hub", "prefix", "pattern", "interval_seconds",
)  # fmt: skip
"""Columns of the answer as a table."""


@command
def run(
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="[URL]...", help="URLs; standard input when none is given, or `-`."),
    ] = None,
    policy: PolicyPath = None,
    state: State = None,
    as_tsv: Annotated[
        bool, typer.Option("--tsv", help="Write tab-separated values instead of JSON lines.")
    ] = False,
) -> None:
    """Decide which URLs to fetch now, later or not at all.

    Reads one URL a line, seen or unseen, and writes one decision a line, as soon as it can.
    """
    from temporal_assets.policy import Policy, PolicyError

    try:
        loaded = Policy.load(policy_path(policy, state))
    except PolicyError as error:
        raise CommandError(str(error)) from None
    batches = [list(map(written, urls))] if urls and urls != ["-"] else arrivals()
    if as_tsv:
        sys.stdout.write("\t".join(_COLUMNS) + "\n")
        sys.stdout.flush()
    # A file gets what is there; a terminal would obey the escapes in it.
    write = (_as_shown_tsv if sys.stdout.isatty() else _as_tsv) if as_tsv else _as_json
    for together in batches:
        for text in _written(loaded, together, write):
            sys.stdout.write(text)
        sys.stdout.flush()  # a crawler in a pipe waits for it before it asks again


def _written(policy: Policy, urls: list[str], write: _Writer) -> Iterator[str]:
    for first in range(0, len(urls), _LINES):
        yield "".join(map(write, policy.matches(urls[first : first + _LINES])))


def _as_json(decision: Decision) -> str:
    import json

    return json.dumps({name: getattr(decision, name) for name in _COLUMNS}) + "\n"


def _as_tsv(decision: Decision) -> str:
    return "\t".join(_cell(getattr(decision, name)) for name in _COLUMNS) + "\n"


def _as_shown_tsv(decision: Decision) -> str:
    return "\t".join(console.plain(_cell(getattr(decision, name))) for name in _COLUMNS) + "\n"


def _cell(value: object) -> str:
    """Return a value without tabs and line breaks, which end cells and lines."""
    return "" if value is None else " ".join(str(value).split())


if TYPE_CHECKING:
    from collections.abc import Callable

    _Writer = Callable[[Decision], str]
