"""The daily assets end to end, on logs small enough to count by hand."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from temporal_assets.days.daily import RequestsResult, build_derived, build_requests
from temporal_assets.days.day_inputs import NoLogs
from temporal_assets.days.rejects import TooManyRejects
from temporal_assets.days.staleness import LONGEST_SILENCE, silent_days, stale
from temporal_assets.engines.duckdb import DuckDBEngine
from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.landing import refresh
from temporal_assets.settings import Settings, load_settings
from temporal_assets.storage.store import Store
from tests import logs

DAY = dt.date(2026, 3, 2)
NEXT = dt.date(2026, 3, 3)
NOON = dt.datetime.combine(DAY, dt.time(12))
SITE = "https://example.com"
A, B, C = "192.0.2.1", "192.0.2.2", "2001:db8::3"


class Installation:
    """A state folder over one folder of logs, driven without Dagster."""

    def __init__(self, root: Path, **changes: object) -> None:
        self.logs = root / "logs"
        self.logs.mkdir(exist_ok=True)
        self.settings: Settings = load_settings(
            root / "state", sources=[{"path": str(self.logs), "host": "example.com"}], **changes
        )
        self.store = Store.open(self.settings)
        self.engine = DuckDBEngine(self.settings)

    def write(self, name: str, lines: list[str]) -> None:
        logs.write(self.logs / name, lines)

    def build(self, day: dt.date = DAY) -> RequestsResult:
        refresh(self.settings)
        result = build_requests(self.store, self.engine, self.settings, day, self.inventory)
        for asset in ("page_views", "transits"):
            build_derived(self.store, self.engine, asset, day)
        return result

    @property
    def inventory(self) -> Inventory:
        return Inventory.load(self.settings)

    def rows(self, asset: str, day: dt.date = DAY) -> list[dict[str, object]]:
        return self.store.read(asset, day).to_pylist()

    def views(self) -> dict[object, object]:
        return {row["url"]: row["views"] for row in self.rows("page_views")}

    def bytes(self) -> dict[str, bytes]:
        root = self.settings.state / "tables"
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.*") if p.is_file()}


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_views_and_transits_as_the_papers_mean_them(here: Installation) -> None:
    here.write(
        "access.log",
        [
            logs.line(NOON, "/hub", A),
            logs.line(NOON, "/hub", A),  # again: still one view (TW 4.1)
            logs.line(NOON, "/hub", B, "https://search.example/?q=x"),
            logs.line(NOON, "/new?b=2&a=1#top", A, f"{SITE}/hub"),
            logs.line(NOON, "/new?a=1&b=2", A, f"{SITE}/hub"),  # the same page, the same transit
            logs.line(NOON, "/new?a=1&b=2&utm_source=mail", B, f"{SITE}/hub"),
            logs.line(NOON, "/new?a=1&b=2", A, f"{SITE}/new?a=1&b=2"),  # a reload is no transit
            logs.line(NOON, "/new?a=1&b=2", C),
        ],
    )
    here.build()
    page = f"{SITE}/new?a=1&b=2"
    assert here.views() == {f"{SITE}/hub": 2, page: 3}
    edges = sorted(
        ((row["referrer"], row["target"]) for row in here.rows("transits")),
        key=lambda edge: (str(edge[1]), str(edge[0] or "")),
    )
    assert edges == [
        (None, f"{SITE}/hub"),
        ("https://search.example/?q=x", f"{SITE}/hub"),
        (None, page),
        (f"{SITE}/hub", page),
        (f"{SITE}/hub", page),
    ]


def test_the_same_lines_give_the_same_bytes_however_they_are_spread(tmp_path: Path) -> None:
    lines = logs.day_of_lines(DAY, clients=20)
    results = []
    for name, parts in {"one": [lines], "two": [lines[:17], lines[17:]]}.items():
        (tmp_path / name).mkdir()
        here = Installation(tmp_path / name)
        if results:  # pseudonyms are comparable only under one key
            secrets = tmp_path / "one" / "state" / "secrets"
            (tmp_path / name / "state").mkdir()
            (tmp_path / name / "state" / "secrets").symlink_to(secrets)
        for n, part in enumerate(parts):
            here.write(f"access-{n}.log", part)
        here.build()
        results.append(
            {
                asset: [file.digest for file in here.store.require(asset, DAY).files]
                for asset in ("requests", "page_views", "transits")
            }
        )
    assert results[0] == results[1]


def test_building_again_changes_no_byte(here: Installation) -> None:
    here.write("access.log", logs.day_of_lines(DAY, clients=9))
    here.build()
    before = here.bytes()
    here.build()
    assert here.bytes() == before


def test_lines_in_two_files_count_once_and_repeats_in_one_file_stay(here: Installation) -> None:
    twice = logs.line(NOON, "/twice", A)
    here.write("a.log", [twice, twice, logs.line(NOON, "/only-in-a", A)])
    here.write("b.log", [twice, twice, logs.line(NOON, "/only-in-b", A)])
    result = here.build()
    urls = sorted(str(row["url"]) for row in here.rows("requests"))
    assert urls == [f"{SITE}/only-in-a", f"{SITE}/only-in-b", f"{SITE}/twice", f"{SITE}/twice"]
    assert ("dropped", "duplicate_in_other_file", 2) in result.losses


def test_of_a_log_that_keeps_its_last_lines_each_counts_once(here: Installation) -> None:
    lines = [logs.line(NOON + dt.timedelta(minutes=n), f"/{n}", A) for n in range(6)]
    here.write("last_lines.log", lines[:4])
    here.build()
    here.write("last_lines.log", lines[2:])
    here.build()
    assert sorted(str(row["url"]) for row in here.rows("requests")) == [
        f"{SITE}/{n}" for n in range(6)
    ]


def test_a_late_file_makes_its_day_and_what_follows_stale(here: Installation) -> None:
    here.write("access.log", logs.day_of_lines(DAY))
    here.build()
    nothing: dict[str, list[dt.date]] = {"requests": [], "page_views": [], "transits": []}
    assert stale(here.store, here.inventory, here.settings) == nothing
    here.write("late.log", [logs.line(NOON, "/late", C)])
    refresh(here.settings)
    late = stale(here.store, here.inventory, here.settings)
    assert late == {"requests": [DAY], "page_views": [DAY], "transits": [DAY]}
    here.build()
    assert here.views()[f"{SITE}/late"] == 1
    assert stale(here.store, here.inventory, here.settings) == nothing


def test_robots_betray_themselves_by_what_they_do(here: Installation) -> None:
    def burst(address: str, pages: int, referrer: str) -> list[str]:
        return [logs.line(NOON, f"/{address}/{n}", address, referrer) for n in range(pages)]

    def walk(address: str, pages: int, referrer: str) -> list[str]:
        start = dt.datetime.combine(DAY, dt.time(1))
        return [
            logs.line(start + dt.timedelta(minutes=n), f"/{address}/{n}", address, referrer)
            for n in range(pages)
        ]

    here.write(
        "access.log",
        [
            *burst("192.0.2.60", 60, f"{SITE}/"),  # sixty a minute: just a reader in a hurry
            *burst("192.0.2.61", 61, f"{SITE}/"),
            *walk("192.0.2.99", 99, "-"),
            *walk("192.0.2.100", 100, "-"),
            *walk("192.0.2.101", 101, f"{SITE}/"),
        ],
    )
    result = here.build()
    kept = {str(url).split("/")[3] for url in here.views()}
    assert kept == {"192.0.2.60", "192.0.2.99", "192.0.2.101"}
    assert ("dropped", "bot_rate", 61) in result.losses
    assert ("dropped", "bot_no_referrer", 100) in result.losses


def test_a_format_without_referrers_condemns_nobody_and_says_so(here: Installation) -> None:
    start = dt.datetime.combine(DAY, dt.time(1))
    here.write(
        "access.log",
        [logs.common_line(start + dt.timedelta(minutes=n), f"/{n}", A) for n in range(150)],
    )
    result = here.build()
    assert result.requests.manifest.rows == 150
    assert result.has_referrers is False
    assert here.store.require("transits", DAY).extra["has_referrers"] is False


def test_too_many_rejects_fail_the_day_and_keep_yesterdays_data(here: Installation) -> None:
    here.write("access.log", logs.day_of_lines(DAY, clients=3))
    here.build()
    before = here.views()
    here.write(
        "other.log",
        [*[logs.line(NOON, "/fine", C)] * 30, *[f"not a log line {n}" for n in range(20)]],
    )
    with pytest.raises(TooManyRejects) as caught:
        here.build()
    message = str(caught.value)
    assert "20 of 56 log lines (36%)" in message
    assert "logs/other.log" in message
    assert "line 31: '" in message
    assert "`combined`" in message
    assert here.views() == before
    (loss,) = [row for row in here.rows("rejects") if row["file"] == "logs/other.log"]
    assert (loss["reason"], loss["lines"], loss["sample_line"]) == ("not_the_format", 20, 31)


def test_of_files_with_one_name_the_format_of_the_bad_one_is_told(tmp_path: Path) -> None:
    here = Installation(tmp_path)
    earlier = NOON - dt.timedelta(hours=1)  # so that this file comes first
    here.write("web1/nginx/access.log", [logs.line(earlier, "/fine", A)])
    here.write(
        "web2/nginx/access.log",
        [logs.common_line(NOON, "/fine", B), *[f"not a log line {n}" for n in range(20)]],
    )
    sources = [
        {"path": str(here.logs / name), "host": "example.com", "format": form}
        for name, form in (("web1", "combined"), ("web2", "common"))
    ]
    here.settings = load_settings(here.settings.state, sources=sources)
    with pytest.raises(TooManyRejects, match=r"nginx/access\.log, read as `common`"):
        here.build()


def test_lines_without_a_site_ask_for_one(tmp_path: Path) -> None:
    here = Installation(tmp_path)
    nameless = {"path": str(here.logs), "format": "combined"}
    here.settings = load_settings(here.settings.state, sources=[nameless])
    # Those that come from the site itself name it.
    own = [logs.line(NOON, f"{SITE}/{n}", C) for n in range(3)]
    here.write("access.log", [*own, *[logs.line(NOON, "/fine", C)] * 30])
    with pytest.raises(
        TooManyRejects, match=r"no_host, .* read them with --host www.example.com, or"
    ):
        here.build()


def test_a_day_without_lines_is_an_error_or_explicitly_empty(here: Installation) -> None:
    after = DAY + dt.timedelta(days=2)
    here.write("a.log", logs.day_of_lines(DAY))
    here.write("b.log", logs.day_of_lines(after))
    between, outside = DAY + dt.timedelta(days=1), DAY + dt.timedelta(days=3)
    here.build(between)
    assert here.store.require("page_views", between).rows == 0
    with pytest.raises(NoLogs, match="span 2026-03-02 to 2026-03-04"):
        here.build(outside)


def test_whoever_makes_all_days_makes_a_silent_one_too(here: Installation) -> None:
    """`materialize` and the sensor ask for it, as a run that names the day does."""
    after = DAY + dt.timedelta(days=2)
    far = after + dt.timedelta(days=LONGEST_SILENCE + 2)
    for number, day in enumerate((DAY, after, far)):
        here.write(f"{number}.log", logs.day_of_lines(day))
    refresh(here.settings)
    silent = DAY + dt.timedelta(days=1)
    assert silent_days(here.inventory) == [silent], "a longer silence parts two periods"
    late = stale(here.store, here.inventory, here.settings)
    assert late["requests"] == late["page_views"] == [DAY, silent, after, far]
    here.build(silent)
    assert silent not in stale(here.store, here.inventory, here.settings)["requests"]
    with pytest.raises(NoLogs):
        here.build(after + dt.timedelta(days=1))


def test_no_address_is_written_anywhere(here: Installation) -> None:
    secret = ["203.0.113.77", "2001:db8:77::77", "198.51.100.77"]
    here.write(
        "access.log",
        [
            *[logs.line(NOON, f"/page/{n}", secret[n % 2]) for n in range(20)],
            f"garbage from {secret[0]} and [{secret[1]}]:443 via {secret[2]}",
            logs.line(NOON, "/x", secret[2])[:60],
            logs.line(NOON.replace(year=2990), "/future", secret[0]),
        ],
    )
    here.build()
    written = 0
    for path in here.settings.state.rglob("*"):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if path.suffix == ".parquet":
            content += str(pq.read_table(path).to_pylist()).encode()
        written += 1
        for address in secret:
            assert address.encode() not in content, path
    assert written > 8
    samples = " ".join(str(row["sample"]) for row in here.rows("rejects"))
    assert "via [address]" in samples


def test_damaged_partitions_are_found(here: Installation) -> None:
    here.write("access.log", logs.day_of_lines(DAY))
    here.build()
    assert here.store.damaged() == []
    views, requests = (Path(here.store.files(name, DAY)[0]) for name in ("page_views", "requests"))
    views.unlink()
    requests.write_bytes(requests.read_bytes()[:-1])
    assert here.store.damaged() == [str(views), str(requests)]


def test_a_corrected_zone_leaves_no_line_in_two_days(tmp_path: Path) -> None:
    first = Installation(tmp_path)
    first.write("access.log", [logs.line(dt.datetime(2026, 3, 2, 23, 30), "/late", A)])
    first.build()
    corrected = Installation(tmp_path, orchestration={"timezone": "Asia/Tokyo"})
    refresh(corrected.settings)
    assert corrected.inventory.days() == [NEXT]
    late = stale(corrected.store, corrected.inventory, corrected.settings)
    assert late == {name: [DAY, NEXT] for name in ("requests", "page_views", "transits")}
    for day in (DAY, NEXT):
        corrected.build(day)
    assert corrected.rows("requests", DAY) == []
    assert len(corrected.rows("requests", NEXT)) == 1
    late = stale(corrected.store, corrected.inventory, corrected.settings)
    assert not any(late.values())


def test_a_lost_landing_zone_empties_no_day(here: Installation) -> None:
    here.write("access.log", logs.day_of_lines(DAY))
    here.build()
    shutil.rmtree(here.settings.state / "landing")
    assert not any(stale(here.store, here.inventory, here.settings).values())
    with pytest.raises(NoLogs):
        build_requests(here.store, here.engine, here.settings, DAY, here.inventory)
