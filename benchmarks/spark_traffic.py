"""Access logs of made-up sites for `spark_or_duckdb`: as many requests as wanted, written fast.

Several servers share all sites, each with a log a day, so that their times overlap as behind a
load balancer. Sites have front pages, which lead to nearly everything, pages that are read all the
time, and pages that are news: most is read on their first day. Numbers of pages and readers grow
with the requests. All readers are browsers that nothing takes for robots.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from isal import igzip
from numpy.typing import NDArray

from temporal_assets.demo.world.people import READER_AGENTS, agents_of
from temporal_assets.demo.world.ragged import Ragged, compose, pack, stack

FIRST = dt.date(2025, 3, 3)
_SITES = 200
_FRONTS = ("", "news/", "guides/", "forum/", "shop/")
_FRONT_PAGES = _SITES * len(_FRONTS)
_SECTIONS = ("politics", "sports", "culture", "science", "travel", "local", "business")
_REQUESTS_A_PAGE = 25
_REQUESTS_A_CLIENT = 12
_SHARE_OF_NEW_PAGES = 0.5
"""Share of requests for pages opened in the last days; the others go to old ones."""
_SHARE_FROM_NOWHERE = 0.3
_SHARE_FROM_FRONTS = 0.7
"""Share of requests that come from front pages; the others come from any old page of the site."""
_SERVERS = 4
_MOST_LINES = 500_000
"""Most lines of a file; more of them take more servers."""
_ANNOTATED = 2_000
_SITES_A_LISTED = 3
"""Every so many sites one is in the list that people keep."""

_SETTINGS = """\
[[sources]]
path = "logs"
[window]
days = {days}
min_days = {days}
[labels]
m = 2
[calibration]
annotated = "annotated.csv"
[baseline]
path = "list.txt"
"""

Ints = NDArray[np.int64]


def write_traffic(state: Path, requests: int, days: int) -> int:
    """Write settings, logs and what people made into a state folder; return bytes of the logs."""
    web = Web.of(requests, days)
    (state / "logs").mkdir(parents=True)
    (state / "settings.toml").write_text(_SETTINGS.format(days=days), "utf-8")
    listed = range(0, _SITES, _SITES_A_LISTED)
    (state / "list.txt").write_text("".join(f"site{n}.example\n" for n in listed), "utf-8")
    with (state / "annotated.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("url", "label"), *web.annotated()])
    lines = Lines(web)
    servers = max(_SERVERS, -(-requests // days // _MOST_LINES))
    size = 0
    for number in range(days):
        day = FIRST + dt.timedelta(days=number)
        for server in range(servers):
            dice = np.random.default_rng((1, number, server))
            text = lines.of(day, web.requests_of(dice, number, requests // days // servers))
            path = state / "logs" / f"server{server}-{day}.log.gz"
            path.write_bytes(igzip.compress(text, compresslevel=1, mtime=0))
            size += path.stat().st_size
    return size


@dataclass(frozen=True)
class Web:
    """Pages by number: front pages, other old ones, then the new ones of each day."""

    days: int
    clients: int
    old: int
    new_a_day: int

    @classmethod
    def of(cls, requests: int, days: int) -> Web:
        """Return a site with as many pages and clients as so many requests are worth."""
        old = max(2 * _FRONT_PAGES, requests // _REQUESTS_A_PAGE // 2)
        clients = max(1_000, requests // _REQUESTS_A_CLIENT)
        return cls(days, clients, old // _SITES * _SITES, max(_SITES, old // 10))

    @property
    def pages(self) -> int:
        """Number of pages of all kinds."""
        return self.old + self.days * self.new_a_day

    def path(self, page: int) -> str:
        """Return the path of a page on its site."""
        if page < _FRONT_PAGES:
            return _FRONTS[page // _SITES]
        section = _SECTIONS[page // _SITES % len(_SECTIONS)]
        if page >= self.old and page % 11:
            day = FIRST + dt.timedelta(days=(page - self.old) // self.new_a_day)
            return f"news/{section}/{day:%Y/%m/%d}/{page:08d}-a-title-of-a-page.html"
        kind = page // _SITES % 3
        if kind == 0:
            return f"guides/{section}/{page:08d}-a-longer-title-of-a-page.html"
        return f"forum/thread.php?id={page}" if kind == 1 else f"shop/item/{page}"

    def url(self, page: int) -> str:
        """Its whole URL."""
        return f"https://site{page % _SITES}.example/{self.path(page)}"

    def annotated(self) -> Iterator[tuple[str, str]]:
        """(URL, label) of old and new pages in turn."""
        for n in range(_ANNOTATED // 2):
            yield self.url(_FRONT_PAGES + n % (self.old - _FRONT_PAGES)), "untemporal"
            yield self.url(self.old + n % (3 * self.new_a_day)), "temporal"

    def requests_of(self, dice: np.random.Generator, day: int, rows: int) -> Requests:
        """Popularity falls as 1 / rank among old pages; new ones are read for some days."""
        page = (self.old ** dice.random(rows)).astype(np.int64) - 1
        is_new = dice.random(rows) < _SHARE_OF_NEW_PAGES
        age = np.minimum(dice.geometric(0.6, rows) - 1, day)
        place = (self.new_a_day * dice.random(rows) ** 2).astype(np.int64)
        page = np.where(is_new, self.old + (day - age) * self.new_a_day + place, page)
        front = dice.integers(0, len(_FRONTS), rows)
        rank = ((self.old // _SITES) ** dice.random(rows)).astype(np.int64) - 1
        rank = np.where(dice.random(rows) < _SHARE_FROM_FRONTS, front, rank)
        source = np.where(
            dice.random(rows) < _SHARE_FROM_NOWHERE, -1, page % _SITES + _SITES * rank
        )
        second = np.sort(dice.integers(0, 86_400, rows))
        return Requests(second, dice.integers(0, self.clients, rows), page, source)


@dataclass(frozen=True)
class Requests:
    """Requests of a server and day, in the order of time."""

    second: Ints
    client: Ints
    page: Ints
    source: Ints
    """Page it comes from; -1 where it comes from nowhere."""


class Lines:
    """Writes requests in Apache's combined format with the host in front."""

    def __init__(self, web: Web) -> None:
        urls = [web.url(page).encode() for page in range(web.pages)]
        skipped = [url.index(b"/", len(b"https://")) for url in urls]
        clock = [b"%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) for s in range(86_400)]
        address = [b"10.%d.%d.%d" % (n >> 16, n >> 8 & 255, n & 255) for n in range(web.clients)]
        agents = [agent.replace('"', '\\"').encode() for agent in READER_AGENTS]
        # Over one array of bytes, from which the loop copies; the last URL is none.
        tables = stack(*map(pack, ([*urls, b"-"], clock, address, agents)))
        self._urls, self._clock, self._address, self._agent = tables
        self._skipped = np.array(skipped)

    def of(self, day: dt.date, requests: Requests) -> Any:
        """The lines of a day, as bytes."""
        url = self._urls.take(requests.page)
        skipped = self._skipped[requests.page]
        scheme = len(b"https://")
        columns = [
            Ragged(url.data, url.start + scheme, (skipped - scheme).astype(np.int32)),
            self._address.take(requests.client),
            self._clock.take(requests.second),
            Ragged(url.data, url.start + skipped, (url.size - skipped).astype(np.int32)),
            self._urls.take(requests.source),
            self._agent.take(agents_of(requests.client)),
        ]
        glue = (
            *(b"", b" ", b" - - [%s:" % day.strftime("%d/%b/%Y").encode()),
            *(b' +0000] "GET ', b' HTTP/1.1" 200 5120 "', b'" "', b'"\n'),
        )
        return compose(url.data, columns, glue).data
