"""The table of commands and their parts, and loading a command's module when it is run.

Not here: what a command does. `policy show` is the part `show` of the command `policy`. A module is
imported when its command is run or asked for help: importing all of them, and reading all their
options, took half the time of `--help`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    "policy": "Show the crawl policy, ask it about URLs, or write it for another crawler.",
    "crawl": "Crawl what the policy wants now, into WARC files; Ctrl-C or the budget ends it.",
}
_UNDERSTAND: Final = {
    "show": "Show a page, a site, or all sites, and why they are judged as they are.",
    "explore": "Explore sites, folders, patterns and pages in a browser, and why each URL is"
    " fetched.",
    "query": "Query the artifacts with SQL: every asset is a view of its own name.",
    "evaluate": "Compare what was learned with the list in use, or crawl orders with each other.",
    "report": "Write the evaluation report: the tables and figures of the three papers on these"
    " logs.",
}
_OPERATE: Final = {
    "sources": "List the log sources with what each has given; add, change or remove some.",
    "try": "Try other settings, rules or thresholds beside those in use.",
    "ui": "Open the Dagster UI of a state folder; Ctrl-C ends it.",
    "doctor": "Check the installation and the state folder, clean it up, bring it up to date.",
}
PARTS: Final = {
    "policy": {
        "show": "Show what the crawl policy says to watch, or how it differs from an older one.",
        "match": "Decide which URLs to fetch now, later or not at all.",
        "export": "Write the crawl policy as configuration of a crawler (docs/crawlers).",
    },
    "show": {
        "page": "Show a page's daily views, its interest curve, and why it has its labels.",
        "site": "Show how the pages of a site are labelled, where its news is, and its URL"
        " patterns.",
        "labels": "Show how pages are labelled, how far both labels agree, and how their scores"
        " spread.",
        "patterns": "Show how the URLs of a site fall into patterns, and what each is worth.",
        "tree": "Show the prefix tree of a site: pages, news and temporal pages of every folder"
        " and program.",
        "changes": "Show which sites entered the ranked list, left it, moved, appeared or went"
        " quiet.",
        "sources": "Show what crawls found on each hub, feed and sitemap, the most fruitful first.",
    },
    "evaluate": {
        "lists": "Compare the list in use with sites, sections, prefixes and hubs learned from the"
        " logs.",
        "crawls": "Crawl the mirror from every site's home page, in every order, and compare them.",
        "mirror": "Build the mirror of the state folder; one that is there is replaced.",
    },
    "try": {
        "settings": "Make a window with other settings beside the published one, and show what"
        " differs.",
        "rules": "Try lists of sites and rules of prefixes by F, on an earlier window than the"
        " reported one.",
        "thresholds": "Find the thresholds of labels that agree best with pages annotated by"
        " people.",
    },
    "doctor": {
        "check": "Check Python, packages, settings, the state folder, keys, disk, engine, published"
        " files.",
        "clean": "Remove days, policies and runs that are older than `retention` in settings.toml"
        " allows.",
        "upgrade": "Show what an earlier release wrote in another schema, and migrate what can be"
        " migrated.",
    },
}
"""Parts of a command (a part is a subcommand), each with the first sentence of its own help."""

_COMMAND_FOLDERS: Final = {
    **dict.fromkeys(_EVERY_DAY, "daily"),
    **dict.fromkeys(_UNDERSTAND, "understand"),
    **dict.fromkeys(_OPERATE, "operate"),
}
"""Folder (`cli/<folder>`) of the module of each command; a command with parts has no module."""

_PART_FOLDERS: Final = {name: name for name in PARTS} | {"try": "trial"}
"""Folder (`cli/<folder>`) of the modules of each command's parts: `try` is a keyword of Python."""

GROUPS: Final = {
    "Every day": _EVERY_DAY,
    "Understand": _UNDERSTAND,
    "Operate": _OPERATE,
}
"""Every command with the first sentence of its own help, by what people do with it."""

SUMMARIES: Final = {name: text for group in GROUPS.values() for name, text in group.items()}
"""Every command, whatever its group."""

_DEFAULT_PARTS: Final = {
    "policy": "show",
    "evaluate": "lists",
    "try": "settings",
    "doctor": "check",
}
"""Part that is run when none is named; for `show` it depends on the argument."""

_HELP: Final = {
    "policy": "Show the crawl policy, ask it about URLs, or write it for another crawler.\n\n"
    "`policy` alone means `policy show`.",
    "show": "Show a page, a site, or all sites, and why they are judged as they are.\n\n"
    "`show URL` means `show page URL`, `show SITE` means `show site SITE`, and `show` alone"
    " `show labels`.",
    "evaluate": "Compare what was learned with the list in use, or crawl orders with each other."
    "\n\n`evaluate [LIST]` means `evaluate lists [LIST]`.",
    "try": "Try other settings, rules or thresholds beside those in use.\n\n"
    "`try SETTING=VALUE...` means `try settings SETTING=VALUE...`.",
    "doctor": "Check the installation and the state folder, clean it up, bring it up to date.\n\n"
    "`doctor` alone means `doctor check`.",
}

_TYPER_OPTIONS: Final[dict[str, Any]] = {
    "add_completion": False,
    # A traceback with local variables would show log lines, and addresses with them.
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(Mapping[str, Any]):
    """Lazy mapping of commands by name: each is created when it is looked up."""

    def __init__(self, summaries: Mapping[str, str], load: Callable[[str], Any]) -> None:
        self._summaries, self._load = summaries, load

    def __iter__(self) -> Iterator[str]:
        return iter(self._summaries)

    def __len__(self) -> int:
        return len(self._summaries)

    def __contains__(self, name: object) -> bool:
        return name in self._summaries

    def __getitem__(self, name: str) -> Any:
        if name not in self._summaries:
            raise KeyError(name)
        return self._load(name)


def _command(name: str) -> Any:
    """Return a command, or the group of its parts."""
    return _parts_of(name) if name in PARTS else _from_module(_COMMAND_FOLDERS[name], name)


def _from_module(folder: str, name: str) -> Any:
    module = import_module(f"temporal_assets.cli.{folder}.{name.replace('-', '_')}")
    alone = typer.Typer(**_TYPER_OPTIONS)
    alone.command(name)(module.run)
    return typer.main.get_command(alone)


def _default_part(command: str, arguments: list[str]) -> str:
    """Return the part that is run when the arguments name none."""
    if command != "show":
        return _DEFAULT_PARTS[command]
    named = [argument for argument in arguments if not argument.startswith("-")]
    if any("://" in argument for argument in named):
        return "page"
    return "site" if arguments and not arguments[0].startswith("-") else "labels"


class _Parts(TyperGroup):
    """Group of the parts of a command; arguments that name no part go to the default one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.no_args_is_help, self.invoke_without_command = False, False
        name = str(self.name)
        self.commands = _Commands(  # type: ignore[assignment]  # nothing is added later
            PARTS[name], lambda part: _from_module(_PART_FOLDERS[name], part)
        )

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer calls it
        return list(PARTS[str(self.name)])

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - likewise
        with formatter.section("Parts"):
            formatter.write_dl(list(PARTS[str(self.name)].items()))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Pass arguments that name no part of the command to the part that is meant."""
        name = str(self.name)
        asks_help = args[:1] in (["-h"], ["--help"])
        # The first argument names a part: `policy show`.
        if not asks_help and args[:1] and args[0] in PARTS[name]:
            return super().parse_args(ctx, args)
        # A shell completes the next word, which may name a part.
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        # Help of the command; `try` alone has nothing to try.
        if asks_help or (name == "try" and not args):
            return super().parse_args(ctx, ["--help"])
        # The arguments are those of the default part: `show URL`.
        return super().parse_args(ctx, [_default_part(name, args), *args])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a part, or an option of the default part."""
        if not incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        part = self.commands[_default_part(str(self.name), [])]
        meant = part.make_context(part.name, [], parent=ctx, resilient_parsing=True)
        return part.shell_complete(meant, incomplete)


def _parts_of(name: str) -> Any:
    group = typer.Typer(name=name, cls=_Parts, help=_HELP[name], **_TYPER_OPTIONS)
    group.callback()(lambda: None)
    return typer.main.get_group(group)


class _Group(TyperGroup):
    """Group of all commands that lists them without loading them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands(SUMMARIES, _command)  # type: ignore[assignment]  # nothing is added later

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer calls it
        return list(SUMMARIES)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Explain the full command when a part is called without it."""
        if args[0] not in SUMMARIES:
            for name, parts in PARTS.items():
                if args[0] in parts:
                    ctx.fail(f"No such command {args[0]!r}. It is a part: {name} {args[0]}")
        return super().resolve_command(ctx, args)

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
    **(_TYPER_OPTIONS | {"add_completion": True}),
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
