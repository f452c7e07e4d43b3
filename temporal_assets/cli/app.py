"""The commands by name, and what belongs to none of them. Not here: what a command does.

A command's module is imported when the command is run or asked for its help: importing all of
them, and looking at all their options, took half the time of `--help`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from temporal_assets import __version__

_EVERY_DAY: Final = {
    "demo": "Write a demo corpus, read it, build every day, and show what came out.",
    "ingest": "Add log files to the sources in settings.toml and read them.",
    "materialize": "Read new log files, then build assets day by day, and the windows of the"
    " latest day.",
    "status": "Show what is there per asset, what is missing or stale, and the last checks.",
    "policy": "Show what the crawl policy holds, or how it differs from an older one.",
    "match": "Decide which URLs to fetch now, later or not at all.",
    "export": "Write the crawl policy as configuration of a crawler (docs/crawlers).",
    "crawl": "Crawl what the policy wants now, into WARC files; Ctrl-C or the budget ends it.",
    "ui": "Open the Dagster UI of a state folder; Ctrl-C ends it.",
}
_UNDERSTAND: Final = {
    "query": "Query the artifacts with SQL: every asset is a view of its own name.",
    "explain": "Show a page's daily views, its interest curve, and why it has its labels.",
    "labels": "Show how pages are labelled, how far both labels agree, and how their scores"
    " spread.",
    "patterns": "Show how the URLs of a site fall into patterns, and what each is worth.",
    "tree": "Show the prefix tree of a site: pages, news and temporal pages of every folder and"
    " program.",
    "changes": "Show which sites entered the ranked list, left it, moved, appeared or went quiet.",
    "evaluate": "Compare the list in use with sites, sections, prefixes and hubs learned from the"
    " logs.",
    "report": "Write the evaluation report: the tables and figures of the three papers on these"
    " logs.",
    "simulate": "Crawl the mirror from every site's home page, in every order, and compare them.",
}
_OPERATE: Final = {
    "calibrate": "Find the thresholds of labels that agree best with pages annotated by people.",
    "tune": "Try alpha:beta, K and rules of prefixes by F, on an earlier window than the reported"
    " one.",
    "what-if": "Make a window with other settings beside the published one, and show what differs.",
    "mirror": "Build the mirror of the state folder; one that is there is replaced.",
    "clean": "Remove days, policies and runs that are older than `retention` in settings.toml"
    " allows.",
    "upgrade": "Show what an earlier release wrote in another schema, and migrate what can be"
    " migrated.",
    "doctor": "Check Python, packages, settings, the state folder, keys, disk, engine, published"
    " files.",
}
_ROOMS: Final = {
    **dict.fromkeys(_EVERY_DAY, "daily"),
    **dict.fromkeys(_UNDERSTAND, "understand"),
    **dict.fromkeys(_OPERATE, "operate"),
}
"""The room of every command's module."""

GROUPS: Final = {
    "Every day": _EVERY_DAY,
    "Understand": _UNDERSTAND,
    "Adjust and operate": _OPERATE,
}
"""Every command with the first sentence of its own help, by what people do with it."""

SUMMARIES: Final = {name: text for group in GROUPS.values() for name, text in group.items()}
"""Every command, whatever its group."""

_SHOWN: Final[dict[str, Any]] = {
    "add_completion": False,
    # A traceback with local variables would show log lines, and addresses with them.
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(Mapping[str, Any]):
    """Commands by name, each made when it is asked for."""

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)

    def __contains__(self, name: object) -> bool:
        return name in SUMMARIES

    def __getitem__(self, name: str) -> Any:
        if name not in SUMMARIES:
            raise KeyError(name)
        module = import_module(f"temporal_assets.cli.{_ROOMS[name]}.{name.replace('-', '_')}")
        alone = typer.Typer(**_SHOWN)
        alone.command(name)(module.run)
        return typer.main.get_command(alone)


class _Group(TyperGroup):
    """Lists commands without making them."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands()  # type: ignore[assignment]  # nothing is added later

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer calls it
        return list(SUMMARIES)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - likewise
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


app = typer.Typer(
    name="temporal-assets",
    cls=_Group,
    help="Learn from access logs what a crawler should watch.",
    epilog="Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted.",
    no_args_is_help=True,
    **_SHOWN,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"temporal-assets {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Learn from access logs what a crawler should watch."""
