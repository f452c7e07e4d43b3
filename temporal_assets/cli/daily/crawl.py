"""`temporal-assets crawl`: the instant crawler.

Here: the command, and what is said of a finished crawl. Not here: the crawl (`crawl.instant`).
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import INTERRUPTED, USAGE, CommandError, command
from temporal_assets.cli.shared.options import Json, State
from temporal_assets.cli.shared.policies import PolicyPath, policy_path, read_policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from temporal_assets.policy.document import Document

_ENDS: Final = {
    "closespider_timeout": "the time was up",
    "closespider_pagecount": "all pages of the budget were fetched",
    "shutdown": "it was stopped",
}
"""Sentences for the reasons that Scrapy gives for the end of a crawl."""

_CONTACT: Final = re.compile(r"https?://[!-~]+|[!-~]+@[!-~]+")


@command
def run(
    folder: Annotated[
        Path,
        typer.Option(
            "--to",
            metavar="FOLDER",
            help="The archive; name it again to go on.",
            show_default=False,
        ),
    ],
    contact: Annotated[
        str,
        typer.Option(
            "--contact",
            metavar="URL_OR_MAIL",
            help="Where the operators of sites reach you; part of the user agent.",
            show_default=False,
        ),
    ],
    policy: PolicyPath = None,
    state: State = None,
    pages: Annotated[
        int | None, typer.Option("--pages", min=1, help="Stop after so many responses.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=1, help="Stop after so long.")
    ] = None,
    delay: Annotated[
        float, typer.Option("--delay", min=0, help="Seconds between two pages of a site.")
    ] = 1.0,
    explore: Annotated[
        float,
        typer.Option(
            "--explore",
            min=0,
            max=0.5,
            help="Share of the fetches that goes to what the policy does not know.",
        ),
    ] = 0.05,
    as_json: Json = False,
) -> None:
    """Crawl what the policy wants now, into WARC files; Ctrl-C or the budget ends it."""
    if not _CONTACT.fullmatch(contact):
        raise CommandError(
            f"--contact {contact}: give an address of the web or of mail, like"
            " https://example.org/crawler or crawl@example.org",
            USAGE,
        )
    path = policy_path(policy, state)
    _require_sources(read_policy(path))
    try:
        from temporal_assets.crawl.instant import (
            AGENT,
            KILLED,
            ORIGINS,
            Budget,
            CrawlUnderWayError,
            NewerMemory,
            NotWrittenError,
            crawl,
        )
    except ModuleNotFoundError as error:
        raise CommandError(
            f"the crawler needs {error.name}: "
            "pip install -c requirements.lock '.[scrapy]' in the checkout"
        ) from None
    settings = {
        "USER_AGENT": f"{AGENT} (+{contact})",
        "DOWNLOAD_DELAY": delay,
        "TEMPORAL_EXPLORE": explore,
    }
    from temporal_assets.policy import PolicyError

    _quieten_scrapy()
    try:
        stats = crawl(path, folder, Budget(pages, seconds), settings)
    except (CrawlUnderWayError, NewerMemory, NotWrittenError, PolicyError) as error:
        raise CommandError(str(error)) from None
    ended = stats["finish_reason"]
    statistics = _statistics(stats, ORIGINS)
    if as_json:
        console.write_json(statistics | {"ended": ended})
    else:
        console.show_table(
            f"Archived in {console.place(folder)}, until {_ENDS.get(ended, ended)}",
            ("what", "times"),
            [(name.replace("_", " "), times) for name, times in statistics.items()],
        )
    if ended == KILLED:
        raise typer.Exit(INTERRUPTED)


def _statistics(stats: Mapping[str, Any], origins: Sequence[str]) -> dict[str, int]:
    """Return what a crawl did, by our names, from the counters of Scrapy and of our spider."""
    keys_of_name = {
        "downloads": ("downloader/request_count",),
        "pages": ("response_received_count",),
        "visits_of_sources": ("temporal/visits",),
        "visits_still_due": ("temporal/waiting",),
        "sources_discovered": tuple(f"temporal/discovered/{origin}" for origin in origins),
        "explored": tuple(f"temporal/explored_{age}" for age in ("new", "old", "undated")),
        "links_not_wanted": ("temporal/dropped",),
        "refused_by_robots": ("robotstxt/forbidden",),
        "put_off": ("temporal/put_off",),
    }
    return {name: sum(stats.get(key, 0) for key in keys) for name, keys in keys_of_name.items()}


def _quieten_scrapy() -> None:
    """Drop the lines in which Scrapy lists its own parts and settings."""
    for part in ("addons", "core.engine", "crawler", "middleware", "statscollectors", "utils.log"):
        # A filter and no level: Scrapy sets levels when it begins.
        logging.getLogger(f"scrapy.{part}").addFilter(_is_for_users)


def _is_for_users(record: logging.LogRecord) -> bool:
    """Return True for warnings, and for the answer to Ctrl-C."""
    return record.levelno >= logging.WARNING or str(record.msg).startswith("Received ")


def _require_sources(document: Document) -> None:
    """Refuse a policy without hubs, feeds and sitemaps: the crawl would wait for nothing."""
    if not (document["hubs"] or document["sources"]):
        why = " ".join(note for note in document["notes"] if "hub" in note)
        raise CommandError(
            f"the policy of {document['day']} names no hub, feed or sitemap to begin with, so there"
            f" is nothing to crawl. {why}".rstrip()
        )
