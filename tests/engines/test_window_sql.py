"""The windows' transformations against slow independent ones, and both ways against each other.

Gaps, late days, pages that leave and come back, equal URLs of different case, Unicode. Results are
compared exactly, order included; published partitions byte for byte.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.engines.base import Engine
from temporal_assets.quality import inspect
from temporal_assets.quality.evaluate import Finding, Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.manifest import Input
from temporal_assets.storage.partition_errors import MissingPartition
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import StaleTable, build, is_fresh
from temporal_assets.windows.frame.incremental import Earlier, find_earlier
from temporal_assets.windows.frame.window_end import WindowEnd, window_end
from temporal_assets.windows.pages import page_totals
from temporal_assets.windows.pages.page_histories import PAGE_HISTORIES, least_views
from temporal_assets.windows.pages.page_totals import PAGE_TOTALS
from temporal_assets.windows.registry import (
    STEP_NAMES,
    WAITING_NAMES,
    WINDOW_ASSETS,
    WINDOW_NAMES,
    due,
    needed,
    stale,
)
from tests.tables import write_table

Row = dict[str, Any]
Views = Mapping[str, int]
ONE = dt.timedelta(days=1)
FIRST = dt.date(2026, 3, 20)  # the window will span the change of clocks
LENGTH = 8
PAGES = (PAGE_TOTALS, PAGE_HISTORIES)

URLS = ["https://a.example/", "https://a.example/ü?q='%22", "https://b.example/Z"]
URLS += ["https://b.example/z"]

a_day = st.dictionaries(st.sampled_from(URLS), st.integers(1, 5))
many_days = st.lists(st.none() | a_day, min_size=LENGTH, max_size=LENGTH + 6)


class Windows:
    """A store of page views and the windows made of them, driven without Dagster."""

    def __init__(self, engine: Engine, root: Path, **window: object) -> None:
        chosen = {"days": LENGTH, "min_days": 1, "min_views_per_day": 0.5} | window
        self.settings: Settings = load_settings(root, window=chosen)
        self.store = Store.open(self.settings)
        self.engine = engine

    def day(self, n: int) -> dt.date:
        return FIRST + n * ONE

    def write(self, n: int, views: Views) -> None:
        rows = [
            {"day": self.day(n), "site": url.split("/")[2], "url": url, "views": count}
            for url, count in sorted(views.items(), key=lambda item: item[0].encode())
        ]
        table = pa.Table.from_pylist(rows, contracts.table("page_views").arrow_schema)
        with self.store.scratch() as scratch:
            path = scratch / "page_views.parquet"
            write_table(table, path)
            inputs = [Input("requests", str(sorted(views.items())))]
            self.store.publish("page_views", self.day(n), [path], inputs=inputs, settings_digest="")

    def make(self, n: int) -> None:
        for asset in PAGES:
            build(self.store, self.engine, self.settings, asset, self.day(n))

    def published(self, n: int) -> dict[str, tuple[str, list[bytes]]]:
        """Manifest and content of the windows of a day."""
        return {
            asset.name: (
                manifest.to_json(),
                [Path(path).read_bytes() for path in self.store.paths(manifest)],
            )
            for asset in PAGES
            if (manifest := self.store.manifest(asset.name, self.day(n)))
        }

    def rows(self, asset: str, n: int) -> list[Row]:
        rows: list[Row] = self.store.read(asset, self.day(n)).to_pylist()
        return rows


@pytest.fixture
def here(engine: Engine, tmp_path: Path) -> Windows:
    return Windows(engine, tmp_path)


def totals_of(days: list[Views | None], last: int) -> list[Row]:
    """Count by hand the pages of the window that ends with day `last`."""
    seen: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for n in range(max(0, last - LENGTH + 1), last + 1):
        for url, views in (days[n] or {}).items():
            seen[url].append((n, views))
    return [
        {
            "day": FIRST + last * ONE,
            "site": url.split("/")[2],
            "url": url,
            "total": sum(views for _, views in found),
            "birth": FIRST + found[0][0] * ONE,
            "seen": sum(1 << n - (last - LENGTH + 1) for n, _ in found),
            "number": number,
        }
        for number, (url, found) in enumerate(
            sorted(seen.items(), key=lambda item: item[0].encode())
        )
    ]


def histories_of(days: list[Views | None], last: int, per_day: float) -> list[Row]:
    window = [(n, days[n] if n >= 0 else None) for n in range(last - LENGTH + 1, last + 1)]
    present = [n for n, views in window if views is not None]
    return [
        {
            **{name: row[name] for name in ("day", "site", "url", "birth", "total")},
            "views": [(views or {}).get(row["url"], 0) for _, views in window],
            "is_born_before": row["birth"] == FIRST + present[0] * ONE,
        }
        for row in totals_of(days, last)
        if row["total"] >= per_day * len(present)
    ]


@settings(max_examples=30)
@given(days=many_days, per_day=st.sampled_from([0.25, 0.5, 1.0]))
def test_windows_are_what_a_loop_over_days_says(
    engine: Engine, days: list[Views | None], per_day: float
) -> None:
    last = max((n for n, views in enumerate(days) if views is not None), default=None)
    if last is None:
        return
    with TemporaryDirectory() as folder:
        here = Windows(engine, Path(folder), min_views_per_day=per_day)
        for n, views in enumerate(days):
            if views is not None:
                here.write(n, views)
        here.make(last)
        assert here.rows("page_totals", last) == totals_of(days, last)
        assert here.rows("page_histories", last) == histories_of(days, last, per_day)
        for asset in PAGES:
            made = here.store.read(asset.name, here.day(last)).schema
            assert made.types == asset.table.arrow_schema.types


@settings(max_examples=40)
@given(
    days=many_days,
    steps=st.lists(st.integers(0, LENGTH + 5), min_size=2, max_size=6),
    late=st.dictionaries(st.integers(0, LENGTH + 5), a_day, max_size=2),
    late_after=st.integers(0, 5),
)
def test_going_on_gives_the_bytes_of_making_anew(
    engine: Engine,
    days: list[Views | None],
    steps: list[int],
    late: Mapping[int, Views],
    late_after: int,
) -> None:
    """Windows are made in any order, days are missing, late files change or add days."""
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        later, anew = Windows(engine, Path(first)), Windows(engine, Path(second))
        here = list(days)
        for n, views in enumerate(here):
            if views is not None:
                later.write(n, views)
        for step, last in enumerate(steps):
            if step == late_after:
                for n, views in late.items():
                    if n < len(here):
                        here[n] = views
                        later.write(n, views)
            if last >= len(here) or here[last] is None:
                continue
            later.make(last)
            for n, views in enumerate(here):
                if views is not None:
                    anew.write(n, views)
            for asset in PAGES:
                _forget(anew.store, asset.name)
            anew.make(last)
            assert later.published(last) == anew.published(last)
            assert later.rows("page_totals", last) == totals_of(here, last)
            assert later.rows("page_histories", last) == histories_of(here, last, 0.5)


def _forget(store: Store, asset: str) -> None:
    for day in store.days(asset):
        store.fs.rm_file(f"{store.root}/{asset}/day={day}/manifest.json")


@pytest.fixture
def single(duckdb: Engine, tmp_path: Path) -> Windows:
    """Windows of one machine: a cluster makes all anew."""
    return Windows(duckdb, tmp_path)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Days moved, or None, of every `page_totals` that was made."""
    taken: list[int | None] = []

    def find(job: Any, daily: str) -> Earlier | None:
        earlier = find_earlier(job, daily)
        taken.append(earlier and earlier.moved)
        return earlier

    monkeypatch.setattr(page_totals, "find_earlier", find)
    return taken


def fill(here: Windows, days: int) -> None:
    for n in range(days):
        here.write(n, {URLS[0]: n + 1, URLS[1 + n % 3]: 2})


def test_the_next_day_goes_on_from_the_day_before(single: Windows, ways: list[int | None]) -> None:
    fill(single, LENGTH + 2)
    single.make(LENGTH - 1)
    single.make(LENGTH)
    single.make(LENGTH + 1)
    assert ways == [None, 1, 1]


def test_a_day_that_was_left_out_is_stepped_over(single: Windows, ways: list[int | None]) -> None:
    fill(single, LENGTH + 2)
    single.make(LENGTH - 1)
    single.make(LENGTH + 1)
    assert ways == [None, 2]


@pytest.mark.parametrize(("length", "moved", "seen"), [(63, 1, 1 << 62 | 0b11), (64, None, 0b11)])
def test_windows_longer_than_the_bits_of_seen_are_made_anew(
    duckdb: Engine,
    tmp_path: Path,
    ways: list[int | None],
    length: int,
    moved: int | None,
    seen: int,
) -> None:
    """The second window begins with day 1: bit n is day n + 1, and the 64th day has none."""
    here = Windows(duckdb, tmp_path, days=length)
    for n in (0, 1, 2, length - 1, length):
        here.write(n, {URLS[0]: 1} if n != length - 1 else {URLS[1]: 1})
    here.make(length - 1)
    here.make(length)
    assert ways[1:] == ([moved] if moved else [])
    page, _ = here.rows("page_totals", length)
    assert page == {
        "day": here.day(length),
        "site": "a.example",
        "url": URLS[0],
        "total": 3,
        "birth": here.day(1),
        "seen": seen,
        "number": 0,
    }


@pytest.mark.parametrize("length", [63, 64])
def test_histories_of_long_windows_have_all_days(
    engine: Engine, tmp_path: Path, length: int
) -> None:
    """Windows of 64 days, of which one has no bit, get their views from the days."""
    here = Windows(engine, tmp_path, days=length, min_views_per_day=1.0)
    for n in (0, 1, length - 1):
        here.write(n, {URLS[0]: n + 1, URLS[2]: 1})
    here.make(length - 1)
    views = [row["views"] for row in here.rows("page_histories", length - 1)]
    between = [0] * (length - 3)
    assert views == [[1, 2, *between, length], [1, 1, *between, 1]]


def test_histories_of_days_in_another_order_are_asked_for(here: Windows) -> None:
    """Counts by place do not add up then, and are thrown away."""
    fill(here, LENGTH)
    rows = here.store.read("page_views", here.day(2)).to_pylist()
    table = pa.Table.from_pylist(rows[::-1], contracts.PAGE_VIEWS.arrow_schema)
    with here.store.scratch() as scratch:
        path = scratch / "page_views.parquet"
        write_table(table, path)
        here.store.publish("page_views", here.day(2), [path], inputs=[], settings_digest="")
    here.make(LENGTH - 1)
    days = [{URLS[0]: n + 1, URLS[1 + n % 3]: 2} for n in range(LENGTH)]
    assert here.rows("page_histories", LENGTH - 1) == histories_of(days, LENGTH - 1, 0.5)


@pytest.mark.parametrize("changed", [1, LENGTH - 1, 0])
def test_a_late_file_breaks_the_proof(
    single: Windows, ways: list[int | None], changed: int
) -> None:
    """The changed day stays in the window, or is the one that leaves it (0)."""
    fill(single, LENGTH + 1)
    single.make(LENGTH - 1)
    single.write(changed, {URLS[0]: 99})
    single.make(LENGTH)
    assert ways == [None, None]
    assert single.rows("page_totals", LENGTH)[0]["total"] == {0: 44, 1: 141, 7: 135}[changed]


def test_a_day_that_came_late_breaks_the_proof(single: Windows, ways: list[int | None]) -> None:
    fill(single, 4)
    for n in range(5, LENGTH + 1):
        single.write(n, {URLS[0]: 1})
    single.make(LENGTH - 1)
    single.write(4, {URLS[3]: 7})
    single.make(LENGTH)
    assert ways == [None, None]


def test_other_settings_break_the_proof(
    single: Windows, ways: list[int | None], tmp_path: Path
) -> None:
    fill(single, LENGTH + 1)
    single.make(LENGTH - 1)
    shorter = Windows(single.engine, tmp_path, days=LENGTH - 1)
    shorter.make(LENGTH)
    assert ways == [None, None]


def test_missing_days_are_named_and_do_not_count_against_a_page(here: Windows) -> None:
    here.write(0, {URLS[0]: 1})
    here.write(3, {URLS[0]: 1, URLS[2]: 1})
    here.write(LENGTH - 1, {URLS[2]: 1})
    here.make(LENGTH - 1)
    manifest = here.store.require("page_histories", here.day(LENGTH - 1))
    assert manifest.extra == {
        "window_days": 8,
        "missing_days": [f"2026-03-{day}" for day in (21, 22, 24, 25, 26)],
    }
    first, second = here.rows("page_histories", LENGTH - 1)
    assert first["views"] == [1, 0, 0, 1, 0, 0, 0, 0]  # 2 views in 3 days, not in 8
    assert second["views"] == [0, 0, 0, 1, 0, 0, 0, 1]
    assert (first["is_born_before"], second["is_born_before"]) == (True, False)


def test_the_inputs_are_the_days_of_the_window(here: Windows) -> None:
    fill(here, LENGTH + 1)
    here.make(LENGTH)
    days = [
        Input(f"page_views/day={here.day(n)}", here.store.require("page_views", here.day(n)).digest)
        for n in range(1, LENGTH + 1)
    ]
    totals = here.store.require("page_totals", here.day(LENGTH))
    assert totals.inputs == tuple(days)
    histories = here.store.require("page_histories", here.day(LENGTH))
    assert histories.inputs == (*days, Input("page_totals", totals.digest))


def test_a_short_window_is_made_but_for_what_waits_for_more_days(
    engine: Engine, tmp_path: Path
) -> None:
    here = Windows(engine, tmp_path, min_days=3)
    here.write(0, {URLS[0]: 1})
    here.write(1, {URLS[0]: 1})
    found = due(here.store, here.settings)
    assert found is not None
    assert set(WINDOW_NAMES) - set(found.assets) == WAITING_NAMES
    here.make(1)
    assert here.store.days("page_histories") == [here.day(1)]
    here.write(2, {URLS[0]: 1})
    found = due(here.store, here.settings)
    assert found is not None
    assert set(found.assets) >= WAITING_NAMES


def test_a_stray_day_does_not_end_the_window(here: Windows) -> None:
    for n in range(3):
        here.write(n, {f"https://a.example/{page}": 2 for page in range(30)})
    here.write(3, {URLS[0]: 1})
    end = window_end(here.store, here.settings)
    assert end == WindowEnd(here.day(2), (here.day(3),), 1, 30)
    found = due(here.store, here.settings)
    assert found is not None
    assert found.day == here.day(2)


def test_a_window_without_its_last_day_is_refused(here: Windows) -> None:
    fill(here, 4)
    with pytest.raises(MissingPartition, match="page_views has no partition for 2026-03-24"):
        here.make(4)


def test_histories_are_not_made_of_other_totals(here: Windows) -> None:
    fill(here, 4)
    with pytest.raises(StaleTable, match="page_totals of 2026-03-23 is missing or older"):
        build(here.store, here.engine, here.settings, PAGE_HISTORIES, here.day(3))
    here.make(3)
    here.write(2, {URLS[1]: 9})
    with pytest.raises(StaleTable):
        build(here.store, here.engine, here.settings, PAGE_HISTORIES, here.day(3))


def test_a_day_that_moved_within_a_history_is_found(
    here: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The views of two days of one page are swapped: sum, birth and last day stay what they are.

    Of a large window every other day is compared, and one of both is among them.
    """
    for n in range(LENGTH):
        here.write(n, {URLS[0]: n + 1, URLS[1]: 3})
    last = LENGTH - 1
    here.make(last)
    table, day = contracts.PAGE_HISTORIES, here.day(last)

    def verdict() -> Finding:
        inspector = Inspector(here.store, here.engine, here.settings)
        (finding,) = inspector.inspect(table, [day], {"every_day_is_counted"})[day]
        return finding

    assert (verdict().status, verdict().expected.value) == (Status.HELD, 0)
    rows = here.rows("page_histories", last)
    assert rows[0]["views"] == [1, 2, 3, 4, 5, 6, 7, 8]
    rows[0]["views"] = [1, 2, 4, 3, 5, 6, 7, 8]
    with here.store.scratch() as scratch:
        path = scratch / "page_histories.parquet"
        write_table(pa.Table.from_pylist(rows, table.arrow_schema), path)
        here.store.publish("page_histories", day, [path], inputs=[], settings_digest="")
    assert (verdict().status, verdict().expected.value) == (Status.BROKEN, 2)
    monkeypatch.setattr(inspect, "_MOST_COMPARED", LENGTH)  # of two pages a day
    assert (verdict().status, verdict().expected.value) == (Status.BROKEN, 1)


def test_what_is_due_is_that_of_the_latest_day(here: Windows) -> None:
    fill(here, 4)
    found = due(here.store, here.settings)
    assert found is not None
    assert (found.day, found.assets) == (here.day(3), STEP_NAMES)
    before = due(here.store, here.settings, before=here.day(3))
    assert before is not None
    assert before.day == here.day(2)


def test_what_is_made_from_something_stale_is_stale(here: Windows) -> None:
    def late() -> set[str]:
        return {"page_totals", "page_histories"} & set(
            stale(here.store, here.settings, here.day(3))
        )

    fill(here, 4)
    here.make(3)
    assert late() == set()
    here.write(1, {URLS[0]: 1})
    assert late() == {"page_totals", "page_histories"}
    build(here.store, here.engine, here.settings, PAGE_TOTALS, here.day(3))
    assert late() == {"page_histories"}
    assert is_fresh(here.store, here.settings, PAGE_TOTALS, here.day(3))


def test_what_is_wanted_comes_with_what_it_is_made_from(here: Windows) -> None:
    fill(here, 4)
    days = [here.day(3)]
    wanted = needed(here.store, here.settings, ["page_histories"], days)
    assert wanted == ("page_totals", "page_histories")
    here.make(3)
    assert needed(here.store, here.settings, ["page_histories"], days) == ("page_histories",)


@pytest.mark.parametrize(
    ("per_day", "days", "least"), [(1.0, 60, 60), (0.1, 30, 3), (0.5, 7, 4), (0.01, 10, 1)]
)
def test_the_least_views(per_day: float, days: int, least: int) -> None:
    assert least_views(per_day, days) == least


def test_an_asset_is_listed_after_those_it_is_made_from() -> None:
    for n, asset in enumerate(WINDOW_ASSETS):
        assert {table.name for table in asset.tables} <= {one.name for one in WINDOW_ASSETS[:n]}
