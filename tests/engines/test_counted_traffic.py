"""`counted_traffic` against a slow independent count, on every engine."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.logs.urls.urls import site_of
from tests.tables import write_table
from tests.traffic import numbered_traffic

DAY = dt.date(2026, 3, 29)
PAGES = [
    "https://a.example/",
    "https://a.example/z",
    "https://a.example/ü?q='",
    "https://b.example/x",
]
NOT_OPENED = "https://a.example/never-opened"
PER_CLIENT = 3

Count = tuple[int, str, str | None, int | None, int | None, int | None]
"""Day, URL, referrer, views, clients, transits."""
a_number = st.none() | st.integers(0, 9)
a_count = st.tuples(
    st.integers(0, 2),
    st.sampled_from([*PAGES, NOT_OPENED]),
    st.sampled_from([None, *PAGES, "https://elsewhere.example/"]),
    a_number,
    a_number,
    a_number,
)
DRAFT: list[dict[str, Any]] = [
    {"visits": 5, "referred": 3, "referrals": 2, "clients": 2, "few_clients": [7, 8]},
    {"visits": 0, "referred": 0, "referrals": 0, "clients": 0, "few_clients": []},
    {"visits": 9, "referred": 4, "referrals": 0, "clients": 4, "few_clients": []},
    {"visits": 0, "referred": 0, "referrals": 0, "clients": 0, "few_clients": []},
]
LINKS: list[list[dict[str, int]]] = [[{"page": 1, "transits": 3}], [], [{"page": 0, "transits": 1}]]


def draft() -> list[dict[str, Any]]:
    return [
        counted
        | {
            "day": DAY,
            "site": site_of(url),
            "url": url,
            "links": links,
            "views": 9,
            "birth": DAY,
            "is_new": False,
            "is_temporal": None,
        }
        for url, counted, links in zip(PAGES, DRAFT, [*LINKS, []], strict=True)
    ]


def slow(counts: list[Count]) -> list[dict[str, Any]]:
    views: dict[str, int] = defaultdict(int)
    came: dict[str, int] = defaultdict(int)
    referred: dict[str, int] = defaultdict(int)
    referrals: dict[str, int] = defaultdict(int)
    known: dict[tuple[str, int], int] = defaultdict(int)
    uncounted: dict[tuple[str, int], int] = defaultdict(int)
    steps: dict[tuple[str, str], int] = defaultdict(int)
    for day, url, referrer, seen, clients, transits in counts:
        followed = 0 if referrer == url else transits or 0
        views[url] += seen or 0
        came[url] += followed
        known[url, day] = max(known[url, day], clients or 0)
        if clients is None:
            uncounted[url, day] += seen if seen is not None else followed
        if referrer is not None:
            referred[url] += followed
            referrals[referrer] += followed
            if followed:
                steps[url, referrer] += followed
    place = {url: n for n, url in enumerate(PAGES[:3])} | {PAGES[3]: 0}
    rows = draft()
    for row in rows:
        url = row["url"]
        bounds = [0, *(max(known[url, day], uncounted[url, day] // PER_CLIENT) for day in range(3))]
        clients = max(bounds)
        links = {link["page"]: link["transits"] for link in row["links"]}
        for (target, referrer), transits in steps.items():
            if target == url and referrer in place and site_of(referrer) == row["site"]:
                links[place[referrer]] = links.get(place[referrer], 0) + transits
        row["visits"] += max(views[url], came[url])
        row["referred"] += referred[url]
        row["referrals"] += referrals[url]
        row["few_clients"] = [] if clients > row["clients"] else row["few_clients"]
        row["clients"] = max(row["clients"], clients)
        row["links"] = [{"page": page, "transits": links[page]} for page in sorted(links)]
    return rows


@given(st.lists(a_count, max_size=12))
def test_counted_traffic(engine: Engine, counts: list[Count]) -> None:
    names = sorted({url for count in counts for url in count[1:3] if url is not None})
    number = {url: n for n, url in enumerate(names)}
    days = [DAY + dt.timedelta(days=n) for n in range(3)]
    urls = [
        {"day": day, "number": n, "site": site_of(url), "url": url, "is_opened": True}
        for day in days
        for url, n in number.items()
    ]
    rows = [
        {
            "day": days[day],
            "url": number[url],
            "referrer": None if referrer is None else number[referrer],
            "views": views,
            "clients": clients,
            "transits": transits,
        }
        for day, url, referrer, views, clients, transits in counts
    ]
    stored, totals = numbered_traffic(draft())
    tables = {
        "page_traffic": stored,
        "page_totals": totals,
        "counts": pa.Table.from_pylist(rows, contracts.NUMBERED_COUNTS.arrow_schema),
        "urls": pa.Table.from_pylist(urls, contracts.URLS.arrow_schema),
    }
    with TemporaryDirectory() as folder:
        inputs = {}
        for name, table in tables.items():
            path = Path(folder) / f"in-{name}.parquet"
            write_table(table, path)
            inputs[name] = [str(path)]
        files = engine.query(
            "counted_traffic",
            inputs,
            {"views_per_client": PER_CLIENT},
            contracts.PAGE_TRAFFIC.stored,
            Path(folder),
        )
        made = pa.concat_tables(map(pq.read_table, files)).to_pylist()
        assert [row | {"url": PAGES[row["url"]]} for row in made] == slow(counts)
