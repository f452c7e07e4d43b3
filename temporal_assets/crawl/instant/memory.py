"""The memory of a crawl, in a database that survives `kill -9`: `memory.sqlite`.

    requests   every page and source that was asked for: queued, in flight, done
    hosts      robots.txt of each host, and until when it is left alone
    sources    hubs, feeds and sitemaps: when they are due, what they yield
    links      which source showed a link first
    arms       what exploration has learned
    facts      anything single: lengths of the archive's files, the policy in use

Here: tables and transactions. Not here: when anything is due (`watch`), the order of requests
(`host_queues`), Scrapy.

A page is archived exactly once: its record, its links and its being done are one transaction, which
also notes the lengths of the archive's files. What was written after the last transaction is cut
off when the crawl goes on, and only what was in flight is fetched again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Final

FILE: Final = "memory.sqlite"

QUEUED: Final = 0
IN_FLIGHT: Final = 1
DONE: Final = 2

_VERSION: Final = 1
"""Version of the tables; a memory of another version is refused."""

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY, page TEXT NOT NULL UNIQUE, url TEXT NOT NULL, host TEXT NOT NULL,
    tier INTEGER NOT NULL, reason TEXT NOT NULL, source TEXT, kind TEXT NOT NULL,
    state INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, meta TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX IF NOT EXISTS unfinished ON requests (state) WHERE state < 2;
CREATE TABLE IF NOT EXISTS hosts (
    host TEXT PRIMARY KEY, ready_at REAL NOT NULL, failures INTEGER NOT NULL,
    robots_time REAL, robots_status INTEGER, robots BLOB
);
CREATE TABLE IF NOT EXISTS sources (
    url TEXT PRIMARY KEY, kind TEXT NOT NULL, origin TEXT NOT NULL, found_on TEXT,
    tier INTEGER NOT NULL, seconds REAL NOT NULL, due REAL NOT NULL, visits INTEGER NOT NULL,
    found INTEGER NOT NULL, failures INTEGER NOT NULL, since REAL NOT NULL, seen REAL,
    retired REAL, digest TEXT NOT NULL, etag TEXT NOT NULL, modified TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS links (
    link INTEGER PRIMARY KEY, source TEXT NOT NULL, time REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS arms (
    arm TEXT PRIMARY KEY, wins REAL NOT NULL, losses REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class NewerMemory(ValueError):
    """Error: another version of the program has crawled into the folder."""


@dataclass(slots=True)
class Row:
    """A request, as it is stored."""

    id: int
    page: str
    """Canonical URL, or `visit URL` for visits to a source; requests with the same text are one."""
    url: str
    host: str
    tier: int
    reason: str
    source: str | None
    """Source that showed the page first."""
    kind: str
    """Kind: `page`, `explore`, or the kind of the source that is visited."""
    state: int = QUEUED
    tries: int = 0
    meta: str = "{}"


@dataclass(slots=True)
class Source:
    """A page that is visited again and again for links."""

    url: str
    kind: str
    """Kind: `hub`, `feed` or `sitemap`."""
    origin: str
    """Place where it was found: `policy`, `link`, `robots`, `well-known`, `sitemap` (named by an
    index)."""
    found_on: str | None
    tier: int
    seconds: float
    """Interval between visits, in seconds."""
    due: float = 0.0
    """Time of the next visit, in seconds since 1970, as all times here."""
    visits: int = 0
    found: int = 0
    """Number of wanted pages that no other source had shown before."""
    failures: int = 0
    """Number of failures in a row."""
    since: float = 0.0
    """Time of the first visit."""
    seen: float | None = None
    """Time at which it was last read, or was known not to have changed."""
    retired: float | None = None
    digest: str = ""
    etag: str = ""
    modified: str = ""


@dataclass(slots=True)
class Host:
    """Facts about a host."""

    host: str
    ready_at: float = 0.0
    failures: int = 0
    robots_time: float | None = None
    robots_status: int | None = None
    robots: bytes | None = None


_ROW: Final = ", ".join(field.name for field in fields(Row))
_SOURCE: Final = ", ".join(field.name for field in fields(Source))
_HOST: Final = ", ".join(field.name for field in fields(Host))


class Memory:
    """Database of the crawl in a folder; one process at a time opens it."""

    def __init__(self, folder: Path) -> None:
        self._base = sqlite3.connect(folder / FILE, isolation_level=None)
        # A commit is in the file when it returns, and survives the death of the process; after a
        # power cut the last ones may be missing, and the archive is cut to what is known.
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.executescript(_TABLES)
        self._depth = 0
        version = self.fact("version", _VERSION)
        if version != _VERSION:
            self._base.close()
            raise NewerMemory(
                f"{folder / FILE} has version {version}, this program knows {_VERSION}: crawl into"
                " another folder, or go on with the version that wrote it"
            )
        self.note("version", _VERSION)
        self._base.execute("UPDATE requests SET state = ? WHERE state = ?", (QUEUED, IN_FLIGHT))

    def close(self) -> None:
        """Close the database."""
        self._base.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make one transaction of all writes in the block: all are stored, or none."""
        if self._depth:
            yield
            return
        self._base.execute("BEGIN IMMEDIATE")
        self._depth = 1
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        else:
            self._base.execute("COMMIT")
        finally:
            self._depth = 0

    # Requests --------------------------------------------------------------------------------

    def add(self, row: Row) -> int | None:
        """Queue a request and return its number, or None if the page was requested before."""
        done = self._base.execute(
            "INSERT OR IGNORE INTO requests (page, url, host, tier, reason, source, kind, state,"
            " tries, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            astuple(row)[1:],
        )
        return done.lastrowid if done.rowcount else None

    def again(self, row: Row) -> int | None:
        """Queue a visit, also after earlier ones; return None if one is under way."""
        known_row = self._base.execute(
            "SELECT id, state FROM requests WHERE page = ?", (row.page,)
        ).fetchone()
        if known_row is None:
            return self.add(row)
        if known_row[1] != DONE:
            return None
        self._base.execute(
            "UPDATE requests SET state = ?, tries = 0, url = ?, host = ?, tier = ?, meta = ?"
            " WHERE id = ?",
            (QUEUED, row.url, row.host, row.tier, row.meta, known_row[0]),
        )
        return int(known_row[0])

    def row(self, number: int) -> Row | None:
        """Return a request by its number."""
        row = self._base.execute(
            f"SELECT {_ROW} FROM requests WHERE id = ?",  # noqa: S608 - ours
            (number,),
        ).fetchone()
        return Row(*row) if row else None

    def change(self, number: int, **values: Any) -> None:
        """Update columns of a request."""
        names = ", ".join(f"{name} = ?" for name in values)
        self._base.execute(
            f"UPDATE requests SET {names} WHERE id = ?",  # noqa: S608 - ours
            (*values.values(), number),
        )

    def knows(self, page: str) -> bool:
        """Return True if a page was requested."""
        return (
            self._base.execute("SELECT 1 FROM requests WHERE page = ?", (page,)).fetchone()
            is not None
        )

    def unfinished(self) -> list[tuple[str, int, int, str]]:
        """Return host, tier, number and page of all queued requests."""
        return self._base.execute(
            "SELECT host, tier, id, page FROM requests WHERE state < ?", (DONE,)
        ).fetchall()

    # Hosts -----------------------------------------------------------------------------------

    def hosts(self) -> dict[str, Host]:
        """Return all hosts by name."""
        rows = self._base.execute(f"SELECT {_HOST} FROM hosts")  # noqa: S608 - ours
        return {row[0]: Host(*row) for row in rows}

    def keep_host(self, host: Host) -> None:
        """Store a host."""
        self._base.execute(
            f"INSERT OR REPLACE INTO hosts ({_HOST}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - ours
            astuple(host),
        )

    # Sources ---------------------------------------------------------------------------------

    def sources(self) -> dict[str, Source]:
        """Return all sources by URL."""
        rows = self._base.execute(f"SELECT {_SOURCE} FROM sources ORDER BY rowid")  # noqa: S608 - ours
        return {row[0]: Source(*row) for row in rows}

    def keep_source(self, source: Source) -> None:
        """Store a source."""
        marks = ", ".join("?" * len(fields(Source)))
        names = [field.name for field in fields(Source)][1:]
        own = ", ".join(f"{name} = excluded.{name}" for name in names)
        self._base.execute(
            f"INSERT INTO sources ({_SOURCE}) VALUES ({marks})"  # noqa: S608 - ours
            f" ON CONFLICT (url) DO UPDATE SET {own}",
            astuple(source),
        )

    # Links -----------------------------------------------------------------------------------

    def new_links(self, pages: Iterable[str], source: str, now: float) -> list[str]:
        """Return pages that nothing linked before, and store `source` as the first to show them."""
        new = []
        for page in dict.fromkeys(pages):
            done = self._base.execute(
                "INSERT OR IGNORE INTO links VALUES (?, ?, ?)", (_hash(page), source, now)
            )
            if done.rowcount:
                new.append(page)
        return new

    # Exploration -----------------------------------------------------------------------------

    def arms(self) -> dict[str, tuple[float, float]]:
        """Return wins and losses of each arm."""
        rows = self._base.execute("SELECT arm, wins, losses FROM arms")
        return {arm: (wins, losses) for arm, wins, losses in rows}

    def keep_arm(self, arm: str, wins: float, losses: float) -> None:
        """Store the wins and losses of an arm."""
        self._base.execute("INSERT OR REPLACE INTO arms VALUES (?, ?, ?)", (arm, wins, losses))

    # Facts -----------------------------------------------------------------------------------

    def fact(self, name: str, default: Any = None) -> Any:
        """Return a single stored value."""
        row = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else default

    def note(self, name: str, value: Any) -> None:
        """Store a single value."""
        self._base.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
