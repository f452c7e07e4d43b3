"""A small web on the local host, in which things happen: pages are born, change, move and vanish.

Here: hosts with hubs, feeds, sitemaps and robots.txt of every kind, and hosts that are slow, busy,
broken or hostile, behind one proxy that answers for all of them. Not here: crawlers, policies of
real sites (`tests.policies`).

    news.example       a portal: front page and sections, a feed that repeats them
    feed.example       articles are in its Atom feed only, which its pages link
    map.example        articles are in a news sitemap only, named by an index named by robots.txt
    json.example       articles are in a JSON Feed only
    fresh.example      nobody knows it; news.example links it from the middle on
    news.example/ai/   a section that nobody knows; linked from the middle on
    busy.example       answers 429 with Retry-After
    down.example       robots.txt answers 503
    slow.example       robots.txt asks for Crawl-delay
    closed.example     robots.txt forbids everything
    broken.example     answers garbage, redirects in a circle, sends bombs
    mute.example       hangs up

Times of the world are seconds since it began; `speed` of them pass in a second of a test.
"""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import numpy as np

SITES: Final = ("news.example", "feed.example", "map.example", "json.example")
SECTIONS: Final = ("politics", "sport", "economy")
UNKNOWN_SECTION: Final = "ai"
UNKNOWN_HOST: Final = "fresh.example"

SHOWN: Final = 10
"""Articles that a front page, section or feed shows."""


@dataclass(frozen=True)
class Article:
    """A page that is born, and wanted for a while."""

    url: str
    birth: float
    section: str
    gone: float | None = None
    """Time from which on it answers 410."""
    moved: str | None = None
    """URL to which it redirects."""


@dataclass(frozen=True)
class Visit:
    """A request that the world has answered."""

    url: str
    time: float
    """Seconds of the test's clock."""
    status: int
    headers: dict[str, str]
    version: str = ""
    """Entity tag of what was there; empty where nothing was."""


@dataclass
class Reply:
    """An answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/html; charset=utf-8"
    missing: int = 0
    """Bytes that are promised and do not come."""


class World:
    """Pages of the web at any time."""

    def __init__(self, articles: list[Article], speed: float = 1.0) -> None:
        self.articles = sorted(articles, key=lambda article: article.birth)
        self._by_url = {article.url: article for article in self.articles}
        self.speed = speed
        self._begun: float | None = None
        self.busy_until: dict[str, float] = {}
        self.evergreen = 0
        """Pages that the front page links and that never change: a crawler may waste itself."""
        self.replies: dict[str, Callable[[], Reply]] = {}
        """Answers of a test's own, by URL."""

    @property
    def now(self) -> float:
        """Seconds of the world; it begins when it is asked first."""
        if self._begun is None:
            self._begun = time.time()
        return (time.time() - self._begun) * self.speed

    def stamp(self, birth: float) -> dt.datetime:
        """The moment of a birth on the clock of the machine."""
        assert self._begun is not None
        return dt.datetime.fromtimestamp(self._begun + birth / self.speed, dt.UTC)

    def born(self, host: str, section: str | None = None) -> list[Article]:
        """The newest articles of a host, the last born first."""
        now = self.now
        actual = [
            article
            for article in self.articles
            if article.birth <= now
            and article.url.startswith(f"http://{host}/")
            and section in (None, article.section)
            and (article.gone is None or article.gone > now)
        ]
        return actual[::-1]

    def answer(self, url: str) -> Reply | None:
        """Return the answer of the web; None to hang up."""
        self.now  # noqa: B018 - it begins with the first question
        if url in self.replies:
            return self.replies[url]()
        host, _, path = url.removeprefix("http://").partition("/")
        handler = getattr(self, f"_{host.split('.')[0]}", None)
        if handler is None:
            return Reply(404)
        reply: Reply | None = handler(path)
        return reply

    # Hosts -----------------------------------------------------------------------------------

    def _article(self, url: str) -> Reply:
        article = self._by_url.get(url)
        now = self.now
        if article is None or article.birth > now:
            return Reply(404)
        if article.gone is not None and article.gone <= now:
            return Reply(410)
        if article.moved:
            return Reply(301, headers={"Location": article.moved})
        host = url.split("/")[2]
        published = self.stamp(article.birth).isoformat()
        return Reply(
            body=f'<html><head><meta property="article:published_time" content="{published}">'
            f'</head><body><a href="http://{host}/">home</a> {url}</body></html>'.encode()
        )

    def _page(self, articles: list[Article], *extra: str, head: str = "") -> Reply:
        links = "".join(f'<a href="{article.url}">x</a>' for article in articles[:SHOWN])
        more = "".join(f'<a href="{url}">x</a>' for url in extra)
        return Reply(body=f"<html><head>{head}</head><body>{more}{links}</body></html>".encode())

    def _news(self, path: str) -> Reply:
        host = "news.example"
        if path == "robots.txt":
            return Reply(body=b"User-agent: *\nDisallow: /private/\n", kind="text/plain")
        feed = '<link rel="alternate" type="application/rss+xml" href="/rss">'
        if path == "":
            extra = [f"http://{host}/{section}/" for section in SECTIONS]
            extra += [f"http://{host}/private/secret"]
            extra += [f"http://{host}/wiki/{n}" for n in range(self.evergreen)]
            newest = self.born(host)
            if any(article.section == UNKNOWN_SECTION for article in newest):
                extra.append(f"http://{host}/{UNKNOWN_SECTION}/")
            if fresh := self.born(UNKNOWN_HOST):
                extra += [f"http://{UNKNOWN_HOST}/", *(article.url for article in fresh[:3])]
            return self._page(newest, *extra, head=feed)
        if path == "rss":
            return Reply(body=self._rss(self.born(host)), kind="application/rss+xml")
        if path.startswith("wiki/"):
            return self._page([], f"http://{host}/wiki/{path[5:]}/more")
        section = path.rstrip("/")
        if section in (*SECTIONS, UNKNOWN_SECTION) and path.endswith("/"):
            return self._page(self.born(host, section), head=feed)
        return self._article(f"http://{host}/{path}")

    def _fresh(self, path: str) -> Reply:
        if path == "robots.txt":
            return Reply(404)
        if path == "":
            return self._page(self.born(UNKNOWN_HOST))
        return self._article(f"http://{UNKNOWN_HOST}/{path}")

    def _feed(self, path: str) -> Reply:
        host = "feed.example"
        if path == "robots.txt":
            return Reply(404)
        if path == "":
            return self._page([], head='<link rel=alternate type="application/atom+xml" href=/all>')
        if path == "all":
            return Reply(body=self._atom(self.born(host)), kind="text/xml")
        return self._article(f"http://{host}/{path}")

    def _json(self, path: str) -> Reply:
        host = "json.example"
        if path == "":
            return self._page([], head="<link rel=alternate type=application/feed+json href=/f>")
        if path == "f":
            items = [
                {
                    "id": article.url,
                    "url": article.url,
                    "date_published": self.stamp(article.birth).isoformat(),
                }
                for article in self.born(host)[:SHOWN]
            ]
            feed = {"version": "https://jsonfeed.org/version/1.1", "title": "x", "items": items}
            return Reply(body=json.dumps(feed).encode(), kind="application/feed+json")
        return self._article(f"http://{host}/{path}")

    def _map(self, path: str) -> Reply:
        host = "map.example"
        if path == "robots.txt":
            text = f"User-agent: *\nAllow: /\nSitemap: http://{host}/index.xml\n"
            return Reply(body=text.encode(), kind="text/plain")
        if path == "":
            return self._page([])
        if path == "index.xml":
            rows = "".join(
                f"<sitemap><loc>http://{host}/{name}</loc></sitemap>"
                for name in ("index.xml", "news.xml.gz")
            )
            body = f'<sitemapindex xmlns="{_SITEMAP}">{rows}</sitemapindex>'.encode()
            return Reply(body=body, kind="application/xml")
        if path == "news.xml.gz":
            return Reply(body=gzip.compress(self._sitemap(self.born(host)), mtime=0))
        return self._article(f"http://{host}/{path}")

    def _busy(self, path: str) -> Reply:
        if path == "robots.txt":
            return Reply(404)
        if time.time() < self.busy_until.setdefault("busy.example", time.time() + 3):
            return Reply(429, headers={"Retry-After": "3"})
        return self._article(f"http://busy.example/{path}") if path else self._page([])

    def _down(self, path: str) -> Reply:
        return Reply(503) if path == "robots.txt" else self._page([])

    def _slow(self, path: str) -> Reply:
        if path == "robots.txt":
            return Reply(body=b"User-agent: *\nCrawl-delay: 1\n", kind="text/plain")
        if path == "":
            return self._page(self.born("slow.example"))
        return self._article(f"http://slow.example/{path}")

    def _closed(self, path: str) -> Reply:
        if path == "robots.txt":
            return Reply(body=b"User-agent: *\nDisallow: /\n", kind="text/plain")
        return self._page([])

    def _broken(self, path: str) -> Reply | None:
        if path == "robots.txt":
            return Reply(body=b"\x00\xff" * 300_000, kind="text/plain")
        if path == "circle":
            return Reply(302, headers={"Location": "http://broken.example/circle2"})
        if path == "circle2":
            return Reply(302, headers={"Location": "http://broken.example/circle"})
        if path == "bomb.xml":
            return Reply(body=gzip.compress(b"<urlset>" + b" " * (60 << 20), 1))
        if path == "garbage":
            return Reply(body=b"\x00\x01<<<>>>\xff" * 1000, kind="application/rss+xml")
        return self._page([]) if path == "" else Reply(500)

    def _mute(self, path: str) -> Reply | None:
        return Reply(404) if path == "robots.txt" else None

    # Documents -------------------------------------------------------------------------------

    def _rss(self, articles: list[Article]) -> bytes:
        rows = "".join(
            f"<item><link>{article.url}</link>"
            f"<pubDate>{self.stamp(article.birth):%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
            for article in articles[:SHOWN]
        )
        return f"<rss version='2.0'><channel><title>x</title>{rows}</channel></rss>".encode()

    def _atom(self, articles: list[Article]) -> bytes:
        rows = "".join(
            f"<entry><link href='{article.url}'/>"
            f"<published>{self.stamp(article.birth).isoformat()}</published></entry>"
            for article in articles[:SHOWN]
        )
        return f"<feed xmlns='http://www.w3.org/2005/Atom'>{rows}</feed>".encode()

    def _sitemap(self, articles: list[Article]) -> bytes:
        rows = "".join(
            f"<url><loc>{article.url}</loc><news:news><news:publication_date>"
            f"{self.stamp(article.birth).isoformat()}</news:publication_date></news:news></url>"
            for article in articles[:50]
        )
        return f'<urlset xmlns="{_SITEMAP}" xmlns:news="{_NEWS}">{rows}</urlset>'.encode()


_SITEMAP: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_NEWS: Final = "http://www.google.com/schemas/sitemap-news/0.9"


def articles(
    seed: int, length: float, *, of_portal: int = 60, of_others: int = 18
) -> list[Article]:
    """Articles that are born while the world lasts, at random times."""
    random = np.random.default_rng(seed)

    def times(count: int, first: float = 0.0) -> list[float]:
        return sorted(random.uniform(first, length, count).tolist())

    actual = []
    for n, birth in enumerate(times(of_portal)):
        section = SECTIONS[int(random.integers(len(SECTIONS)))]
        actual.append(
            Article(f"http://news.example/{section}/2026/11/story-{n}.html", birth, section)
        )
    for host in SITES[1:]:
        actual += [
            Article(f"http://{host}/n/story-{n}.html", birth, "n")
            for n, birth in enumerate(times(of_others))
        ]
    actual += [
        Article(f"http://news.example/{UNKNOWN_SECTION}/2026/11/story-{n}.html", b, UNKNOWN_SECTION)
        for n, b in enumerate(times(of_others, length / 3))
    ]
    return actual + [
        Article(f"http://{UNKNOWN_HOST}/n/story-{n}.html", birth, "n")
        for n, birth in enumerate(times(of_others, length / 3))
    ]


class Web(ThreadingHTTPServer):
    """The world behind a proxy that answers for every host itself."""

    daemon_threads = True

    def __init__(self, world: World) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.world = world
        self.visits: list[Visit] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked(self, host: str = "") -> list[str]:
        """URLs that were asked for, in order, but for robots.txt."""
        return [
            visit.url
            for visit in self.visits
            if host in visit.url and not visit.url.endswith("/robots.txt")
        ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Web

    def do_GET(self) -> None:
        reply = self.server.world.answer(self.path)
        status = 0 if reply is None else reply.status
        version = ""
        if reply is not None and reply.status == 200:
            version = f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'
            reply.headers.setdefault("ETag", version)
            if self.headers["If-None-Match"] == version:
                status = 304
        seen = Visit(self.path, time.time(), status, dict(self.headers.items()), version)
        self.server.visits.append(seen)
        if reply is None:
            self.close_connection = True
            return
        body = b"" if status == 304 else reply.body
        self.send_response(status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(body) + reply.missing))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection |= reply.missing > 0

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def web_of(world: World) -> Iterator[Web]:
    """The world, for a while."""
    web = Web(world)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.shutdown()
        web.server_close()
        thread.join()
