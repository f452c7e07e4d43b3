"""A small corpus with which every table has rows, equal values and NULLs.

Three sites of which one makes news every day, one is new and one is known by counts alone;
two servers whose logs share lines; a client that no reader is; lines that are none; a file of
counts that replaces another's; annotated pages, fetches of a crawl, and a list of sites of the week
before. Here: writing it. Not here: making anything of it (`spark_run`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from temporal_assets import contracts
from temporal_assets.contracts import ColumnSpec
from temporal_assets.settings import load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.lists.site_scores import SITE_SCORES
from tests import logs

FIRST = dt.date(2025, 3, 3)
_SITES = ("news.example", "guide.example")
_COUNTED = "counted.example"
_CLIENTS = 24
_STORIES = 8
_LASTING = 12
_RARE = 40

SETTINGS = """\
[privacy]
min_clients = 2
[labels]
rule = 'concentration'
n = 1
m = 1
[calibration]
annotated = 'annotated.csv'
[prefixes]
threshold = 0.2
[evaluation]
settle_days = 1
"""


def write_corpus(state: Path, root: Path, days: int) -> list[dt.date]:
    """Write logs below `root` and settings into a state folder; return the days."""
    actual = [FIRST + dt.timedelta(days=n) for n in range(days)]
    lines = [SETTINGS]
    for site in _SITES:
        # What appears on the last day has no label yet, and gets a provisional list.
        for day in actual if site == _SITES[0] else actual[-1:]:
            rows = list(_lines(site, day, actual))
            # Two servers, one behind the other in the time of day, that logged some lines both.
            half = len(rows) // 2
            logs.write(root / site / f"a-{day}.log", rows[: half + 5])
            logs.write(root / site / f"b-{day}.log", rows[half - 5 :])
        lines += ["[[sources]]", f"path = '{root / site}'", f"host = '{site}'"]
    _write_counts(root / "counts", actual)
    lines += ["[[sources]]", f"path = '{root / 'counts'}'", f"host = '{_COUNTED}'"]
    _write_annotated(state / "annotated.csv", actual)
    lines += ["[crawls]", f"results = ['{_write_fetches(root, actual)}']"]
    settings = state / "settings.toml"
    settings.write_text(f"{settings.read_text('utf-8')}{chr(10).join(lines)}\n", "utf-8")
    _publish_earlier_list(state, actual[-2])
    return actual


def story(day: dt.date, number: int) -> str:
    """Path of a page of news, which is read on the day it was born."""
    return f"/news/{day:%Y/%m}/{day:%d}{number:02}-story.html"


def lasting(number: int) -> str:
    """Path of a page that is read as often every day."""
    return f"/pages/topic?id={100 + number}"


def _lines(site: str, day: dt.date, days: list[dt.date]) -> Iterator[str]:
    start = dt.datetime.combine(day, dt.time(8))
    home = f"https://{site}/"
    makes_news = site == _SITES[0]
    yield "no line of a log"
    for client in range(_CLIENTS):
        address = f"192.0.2.{client + 1}"
        # Every other client comes at the time of the one before.
        when = start + dt.timedelta(minutes=20 * (client // 2))
        origin = ("-", "https://search.example/?q=news", "https://elsewhere.example/")[client % 3]
        yield logs.line(when, "/", address, origin)
        yield logs.line(when, "/", address, origin)  # a reload
        for n in range(4):
            number = (client + n) % _STORIES
            if makes_news:
                yield logs.line(when, story(day, number), address, home)
            other = (client + 3 * n) % _LASTING if makes_news else (4 * (client // 2) + n) % _RARE
            yield logs.line(when, lasting(other), address, home if n else "-")
        if makes_news and client % 6 == 0 and day != days[0]:
            before = day - dt.timedelta(days=1)
            yield logs.line(when, story(before, client % _STORIES), address, f"{home}news/")
        yield logs.line(when, "/news/", address, home)
        # Enough pages for a site to be crawled on paper.
        for n in range(5 if makes_news else 0):
            yield logs.line(when, f"/archive/{(5 * client + n) % 60}.html", address, home)
    for n in range(90):
        yield logs.line(start + dt.timedelta(hours=9), f"/pages/topic?id={n}", "198.51.100.7")


def _write_counts(folder: Path, days: list[dt.date]) -> None:
    """Two exports of which the later replaces what both say, with and without visitors."""
    folder.mkdir()
    home = f"https://{_COUNTED}/"
    for name, most in (("a.csv", days[-2:]), ("b.csv", days[-1:])):
        rows = ["date,url,referrer,views,visitors"]
        for day in most:
            rows.append(f"{day},{home},,60,{30 if name == 'a.csv' else ''}")
            rows += [
                f"{day},{home}old/{n}.html,{home if n % 2 else ''},{40 + n // 2}," for n in range(4)
            ]
            rows.append(f"{day},{home}new/{day:%d}.html,{home},{50},20")
        (folder / name).write_text("\n".join(rows) + "\n", "utf-8")


def _write_annotated(path: Path, days: list[dt.date]) -> None:
    rows = ["url,label"]
    stories = [story(day, n) for day in days for n in range(_STORIES)]
    others = [lasting(n) for n in range(_LASTING)] + [f"/archive/{n}.html" for n in range(60)]
    rows += [f"https://{_SITES[0]}{path},temporal" for path in stories]
    rows += [f"https://{_SITES[0]}{path},static" for path in others]
    path.write_text("\n".join(rows) + "\n", "utf-8")


def _write_fetches(root: Path, days: list[dt.date]) -> Path:
    """Write what a crawl has fetched: a page and a hub a day, one that failed, and ties."""
    rows = ["url,time,status,kind,changed,source,new_links"]
    for number, day in enumerate(days):
        hub, page = "https://crawled.example/", f"https://crawled.example/news/{number}.html"
        rows += [
            f"{hub},{day}T10:00:00Z,200,hub,true,,1",
            f"{page},{day}T10:00:05Z,200,page,,{hub},",
            f"{hub}gone,{day}T10:00:05Z,410,hub,,,",
            f"{hub}feed.xml,{day}T11:00:00Z,,feed,,,",
        ]
    path = root / "fetches.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def _publish_earlier_list(state: Path, day: dt.date) -> None:
    """Publish the list of sites of a day before the last: one site has gone since, one stays."""
    settings = load_settings(state)
    store = Store.open(settings)
    table = contracts.SITE_SCORES
    rows = []
    for rank, site in enumerate(("gone.example", _SITES[0]), 1):
        row = {column.name: _value(column) for column in table.columns}
        rows.append(row | {"day": day, "site": site, "rank": rank})
    with store.scratch() as scratch:
        path = scratch / "site_scores.parquet"
        pq.write_table(pa.Table.from_pylist(rows, table.arrow_schema), path, store_schema=False)
        digest = SITE_SCORES.settings_digest(settings)
        store.publish("site_scores", day, [path], inputs=[], settings_digest=digest)


def _value(column: ColumnSpec) -> object:
    if column.nullable:
        return None
    kind = pa.types
    actual = column.type.arrow
    if kind.is_boolean(actual):
        return True
    if kind.is_integer(actual):
        return 9
    if kind.is_date(actual):
        return FIRST
    return 0.5 if kind.is_floating(actual) else "by hand"
