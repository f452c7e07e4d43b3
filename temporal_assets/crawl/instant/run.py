"""A run of the instant crawler: settings, budget, process (NP section 1).

The crawler starts from the sources of the policy, visits them again at their intervals, follows the
links that the policy wants now, and archives each response. A run ends when its budget is spent or
when it is killed; the next one in the same folder continues. Not here: how a response is handled
(`spider`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout
from scrapy.crawler import CrawlerProcess
from scrapy.settings import default_settings

from temporal_assets import __version__
from temporal_assets.crawl.instant.manners import Patience, RobotsRules
from temporal_assets.crawl.instant.scheduler import HostScheduler
from temporal_assets.crawl.instant.spider import InstantSpider

_NAME: Final = "temporal-assets"

AGENT: Final = f"{_NAME}/{__version__}"

KILLED: Final = "killed"
"""Reason for the end of a killed crawl, which Scrapy has no time to give."""

_LOCK: Final = "crawl.lock"
"""Name of the lock file: two crawls would take requests from one queue, and each visit all hubs."""

_MAX_BYTES: Final = 16 * 2**20
"""Most bytes of a response: pages of news are never larger; downloads are."""

_TIMEOUT: Final = 60
"""Seconds for a whole response: a host that sends a byte a second keeps its place no longer."""

_MOST_REDIRECTS: Final = 10

_EXACT_DELAY: Final[dict[str, Any]] = (
    {"DOWNLOAD_DELAY_JITTER": 0.0}
    if hasattr(default_settings, "DOWNLOAD_DELAY_JITTER")
    else {"RANDOMIZE_DOWNLOAD_DELAY": False}  # of older releases; those after them warn of it
)
"""Scrapy's setting for exact delays: else a delay is drawn for each page, from half of it on."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits at which a crawl stops; None is no limit."""

    pages: int | None = None
    """Most responses, robots.txt included; requests under way are still finished."""
    seconds: float | None = None


class CrawlUnderWayError(Exception):
    """Error: another process crawls into the folder."""


class NotWrittenError(Exception):
    """Error: the archive could not be written, for example because the disk is full."""

    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(
            f"the crawl has ended, because {folder} cannot be written: {error}. What is archived is"
            " whole; make room there, and the same command goes on from here"
        )


def crawl(
    policy: str | Path,
    folder: Path,
    budget: Budget | None = None,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Crawl into `folder` until the budget is spent or Ctrl-C; return the statistics.

    The same folder again continues with what was queued; one crawl at a time has it, or
    `CrawlUnderWayError` is raised. It can run once in a process, because Scrapy's reactor cannot be
    started twice. Raises what kept the crawl from starting, and `NotWrittenError` if the disk ended
    it; a crawl that was ended before it could close has KILLED as `finish_reason`.
    """
    alone = FileLock(folder / _LOCK, timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        alone.acquire()
    except Timeout:
        raise CrawlUnderWayError(
            f"another crawl is under way in {folder}: wait for it, or name another folder"
        ) from None
    except FileExistsError:  # a file has the folder's name: room on the disk would not help
        raise
    except OSError as error:
        raise NotWrittenError(folder, error) from error
    try:
        return _crawl(policy, folder, budget, settings)
    finally:
        alone.release()


def _crawl(
    policy: str | Path, folder: Path, budget: Budget | None, settings: dict[str, Any] | None
) -> dict[str, Any]:
    """Run the crawl in this process and return its statistics."""
    process = CrawlerProcess(settings_of(policy, budget or Budget(), settings or {}))
    crawler = process.create_crawler(InstantSpider)
    failures: list[Any] = []  # of Twisted, which is known by way of Scrapy alone
    process.crawl(crawler, folder=folder).addErrback(failures.append)
    process.start()
    if failures:
        error = failures[0].value
        if isinstance(error, OSError | sqlite3.Error):
            raise NotWrittenError(folder, error) from error
        failures[0].raiseException()
    trouble = getattr(crawler.spider, "trouble", None)
    if trouble is not None:
        raise NotWrittenError(folder, trouble) from trouble
    stats = crawler.stats.get_stats() if crawler.stats else {}
    return {"finish_reason": KILLED, **stats}


def settings_of(policy: str | Path, budget: Budget, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return Scrapy's settings for the process; `own` overrides them."""
    return {
        "TEMPORAL_POLICY": str(policy),
        "SCHEDULER": HostScheduler,
        "DOWNLOADER_MIDDLEWARES": {RobotsRules: 100, Patience: 550},
        # Ours stand in for these: they keep to a host what it says, over runs.
        "ROBOTSTXT_OBEY": False,
        "RETRY_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,  # a page that is gone is worth knowing
        "USER_AGENT": AGENT,
        # The whole user agent holds a contact, and robots.txt may have rules for a word of it.
        "ROBOTSTXT_USER_AGENT": _NAME,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 1.0,
        **_EXACT_DELAY,
        # A request that is taken is of a host that is ready, so these are so many hosts.
        "CONCURRENT_REQUESTS": 64,
        "DOWNLOAD_TIMEOUT": _TIMEOUT,
        "DOWNLOAD_MAXSIZE": _MAX_BYTES,
        "REDIRECT_MAX_TIMES": _MOST_REDIRECTS,
        "CLOSESPIDER_PAGECOUNT": budget.pages or 0,
        "CLOSESPIDER_TIMEOUT": budget.seconds or 0,
        # Both wait on a port for code to run in the crawler.
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "LOG_LEVEL": "INFO",
        **own,
    }
