"""Traffic of pages, counted by hand and by slow loops."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.windows.traffic.page_traffic import (
    CHANCE,
    by_statements,
    later_half,
    write_traffic,
)
from tests.tables import write_table
from tests.traffic import numbered_traffic
from tests.transits import day_files

DAY = dt.date(2026, 3, 29)
LAST = DAY + dt.timedelta(days=4)
LEAST = 3
PAGES = [
    "https://a.example/",
    "https://a.example/ü?q='",
    "https://b.example/x",
    "https://b.example/y",
]
LABELS: dict[str, dict[str, Any]] = {
    PAGES[0]: {"is_temporal": True, "phi_n": 0.9},
    PAGES[2]: {"is_temporal": False, "phi_n": 0.1},
    PAGES[3]: {"is_temporal": False},  # nothing is known of its interest
}
KNOWN = {page for page, label in LABELS.items() if "phi_n" in label}
REFERRERS = [None, *PAGES, "https://elsewhere.example/", "https://a.example/never-opened"]
ALIKE = ["https://story.example/2026/01/06/page-16", "https://story.example/2026/01/08/page-18"]
"""Two that DuckDB's hash of 64 bits does not tell apart."""

Transit = tuple[int, str | None, str, int]
a_transit = st.tuples(
    st.integers(0, 3), st.sampled_from(REFERRERS), st.sampled_from(PAGES), st.integers(1, 5)
)


def slow(
    transits: Iterable[Transit], new_from: int, total: int, labels: set[str]
) -> list[dict[str, Any]]:
    triples = {(referrer, target, client) for _, referrer, target, client in transits}
    births: dict[str, int] = {}
    for day, _, target, _ in sorted(transits, key=lambda one: one[0]):
        births.setdefault(target, day)
    of_site = defaultdict(list)
    for page in sorted(births):
        of_site[urlsplit(page).netloc].append(page)
    rows = []
    for page in sorted(births):
        inward = [triple for triple in triples if triple[1] == page]
        own = of_site[urlsplit(page).netloc]
        counts: dict[int, int] = defaultdict(int)
        for referrer, _, _ in inward:
            if referrer in own:
                counts[own.index(referrer)] += 1
        clients = sorted({client for _, _, client in inward})
        rows.append(
            {
                "day": LAST,
                "site": urlsplit(page).netloc,
                "url": page,
                "visits": len(inward),
                "referred": sum(one[0] is not None for one in inward),
                "referrals": sum(triple[0] == page for triple in triples),
                "clients": len(clients),
                "few_clients": clients if len(clients) < LEAST else [],
                "links": [{"page": at, "transits": n} for at, n in sorted(counts.items())],
                "views": total,
                "birth": DAY + dt.timedelta(days=births[page]),
                # Of five days: 0.2 ** 2 and 0.4 ** 7 are less than a tenth, 0.4 ** 2 is not.
                "is_new": births[page] >= new_from and ((5 - births[page]) / 5) ** total < 0.1,
                "is_temporal": LABELS[page]["is_temporal"] if page in labels & KNOWN else None,
            }
        )
    return rows


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> list[str]:
    path = folder / f"{name}.parquet"
    schema = contracts.table(name).arrow_schema
    known = [{column: row.get(column) for column in schema.names} for row in rows]
    write_table(pa.Table.from_pylist(known, schema), path)
    return [str(path)]


@given(
    transits=st.lists(a_transit, max_size=60),
    new_from=st.integers(1, 4),
    total=st.sampled_from([1, 2, 7]),
    at_once=st.sampled_from([1, 3, 4]),
    labels=st.sets(st.sampled_from(sorted(LABELS))),
)
@example(
    transits=[(0, referrer, PAGES[0], 1) for referrer in ALIKE],
    new_from=1,
    total=1,
    at_once=1,
    labels=set(),
)
@settings(max_examples=25)
def test_traffic_is_what_was_counted_by_hand(
    engine: Engine,
    transits: list[Transit],
    new_from: int,
    total: int,
    at_once: int,
    labels: set[str],
) -> None:
    days = [DAY + dt.timedelta(days=n) for n in range(5)]
    transits = [transit for transit in transits if transit[1] != transit[2]]
    wanted = slow(transits, new_from, total, labels)
    births: dict[str, int] = {}
    for day, _, target, _ in sorted(transits, key=lambda one: one[0]):
        births.setdefault(target, day)
    with TemporaryDirectory() as name:
        folder = Path(name)
        given = [
            day_files(
                day,
                [
                    {"referrer": referrer, "target": target, "client": client}
                    for other, referrer, target, client in transits
                    if other == n
                ],
                folder,
            )
            for n, day in enumerate(days[:4])
        ]
        seen: dict[str, int] = defaultdict(int)
        for one in {(day, target) for day, _, target, _ in transits}:
            seen[one[1]] |= 1 << one[0]
        inputs = {
            "page_totals": write(
                folder,
                "page_totals",
                [
                    {"day": DAY, "site": urlsplit(page).netloc, "url": page, "total": total}
                    | {"birth": days[births[page]], "seen": seen[page], "number": number}
                    for number, page in enumerate(sorted(births))
                ],
            ),
            "page_labels": write(
                folder,
                "page_labels",
                [
                    {"day": DAY, "site": urlsplit(page).netloc, "url": page} | label
                    for page, label in LABELS.items()
                    if page in labels
                ],
            ),
        }
        parameters = {"day": LAST, "new_from": days[new_from], "least_clients": LEAST}
        parameters |= {"observed_days": 5, "chance": CHANCE}
        made = write_traffic(engine, given, DAY, inputs, parameters, folder, at_once)
        assert len(made) >= -(-len(births) // at_once)
        found = [row for path in made for row in pq.read_table(path).to_pylist()]
        pages = sorted(births)
        assert [row | {"url": pages[row["url"]]} for row in found] == wanted
        if engine.spread is None:
            # The statements of a cluster make the same bytes.
            anew = folder / "anew"
            anew.mkdir()
            theirs = by_statements(engine, given, inputs, parameters, anew, at_once)
            assert [path.read_bytes() for path in made] == [path.read_bytes() for path in theirs]


def test_new_pages_are_those_of_the_later_half() -> None:
    days = [DAY + dt.timedelta(days=n) for n in range(5)]
    assert [len(later_half(days[:n])) for n in range(1, 6)] == [0, 1, 1, 2, 2]
    assert later_half(days) == days[3:]


KNOWN_PAGES = [
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
    st.sampled_from([*KNOWN_PAGES, NOT_OPENED]),
    st.sampled_from([None, *KNOWN_PAGES, "https://elsewhere.example/"]),
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
        for url, counted, links in zip(KNOWN_PAGES, DRAFT, [*LINKS, []], strict=True)
    ]


def slow_counts(counts: list[Count]) -> list[dict[str, Any]]:
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
    place = {url: n for n, url in enumerate(KNOWN_PAGES[:3])} | {KNOWN_PAGES[3]: 0}
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
        assert [row | {"url": KNOWN_PAGES[row["url"]]} for row in made] == slow_counts(counts)
