"""Hub seeds of a window: a small web by hand, and links against a slow witness."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from temporal_assets import contracts
from temporal_assets.core.hubs import yields
from temporal_assets.days.transits import transit_inputs
from temporal_assets.engines.base import Engine, Inputs
from temporal_assets.logs.urls.canonical import site_of
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.settings import Hubs, Settings, load_settings
from temporal_assets.storage.store import Store
from temporal_assets.windows.frame.asset import WindowAsset, build
from temporal_assets.windows.hubs import hub_choice_compiled, hub_seeds
from temporal_assets.windows.hubs.chosen_hubs import (
    FACTS,
    HUB_COLUMNS,
    ChosenHubs,
    hub_links,
    most_hubs,
    without_links,
)
from temporal_assets.windows.hubs.hub_candidates import VisitFiles, count_clients
from temporal_assets.windows.hubs.hub_list import published
from temporal_assets.windows.hubs.hub_seeds import HUB_SEEDS
from temporal_assets.windows.hubs.link_graph import link_tables, read_links
from temporal_assets.windows.hubs.wanted_links import TooManyLinks
from temporal_assets.windows.registry import WINDOW_ASSETS
from tests.tables import write_table
from tests.transits import as_inputs, day_files, publish_transits

Row = dict[str, Any]
Step = tuple[str | None, str, int]
FIRST = dt.date(2026, 3, 1)
ONE = dt.timedelta(days=1)
DAYS = 10

A, B = "https://a.example", "https://b.example"
FRONT, INDEX, OTHER, SECRET = f"{A}/", f"{A}/news/", f"{B}/", f"{B}/draft?token=1"
GONE, ELSEWHERE, SEARCH = f"{A}/moved", "https://blog.example/", "https://www.google.com/"
NEWS = [f"{A}/news/{n}" for n in range(4)] + [f"{B}/news/{n}" for n in range(2)]
OLD = f"{A}/about"
LATE = [f"{A}/news/late-{n}" for n in range(4)]

ROTATING: dict[str, Any] = {"privacy": {"rotation_days": 10_000}}
LONG_AGO = dt.date(1971, 1, 1)
"""With this day a window has two keys of pseudonyms: visits are asked of transits."""


def made_from(asset: WindowAsset) -> set[str]:
    """Names of all window assets that one is made from."""
    return {table.name for table in asset.tables}.union(*map(made_from, asset.tables))


UPSTREAM = [one for one in WINDOW_ASSETS if one.name in made_from(HUB_SEEDS)]


def steps() -> list[Step]:
    """Referrer, target and first client of five clients each, but for SECRET with four."""
    linked = {
        FRONT: [*NEWS[:4], INDEX, OLD],
        INDEX: [*NEWS[:3], NEWS[0]],
        OTHER: [NEWS[4], NEWS[3], FRONT],
        SECRET: [NEWS[5]],
        GONE: [NEWS[5]],
        ELSEWHERE: [NEWS[5], NEWS[0]],
        SEARCH: [*NEWS, FRONT],
        OLD: [FRONT],
    }
    rows: list[Step] = [
        (hub, page, client)
        for hub, pages in linked.items()
        for page in pages
        for client in range(5)
    ]
    rows += [(None, page, client) for page in (FRONT, OTHER) for client in range(5)]
    rows += [(None, SECRET, client) for client in range(4)]
    return rows


class Web:
    """A store of a few pages; all transits are of the last day."""

    has_referrers = True

    def __init__(self, engine: Engine, root: Path, **changes: Any) -> None:
        chosen: dict[str, Any] = {"window": {"days": DAYS, "min_days": 1}} | changes
        self.settings = load_settings(root, **chosen)
        self.store, self.engine = Store.open(self.settings), engine
        self.day = FIRST + (DAYS - 1) * ONE
        for n in range(DAYS):
            self.publish("page_views", FRONT, FIRST + n * ONE, self.views(n))
            self.publish_transits(n)
        for asset in UPSTREAM:
            self.build(asset)

    def views(self, n: int) -> Iterable[Row]:
        """Pages of the day: news is read on two days, the rest always."""
        for page in (FRONT, INDEX, OTHER, SECRET, OLD):
            yield {"url": page, "views": 4 if page == SECRET else 5}
        for k, page in enumerate(NEWS):
            if k < n <= k + 2:
                yield {"url": page, "views": 40 if n == k + 1 else 2}

    def transits(self, n: int) -> Iterable[Row]:
        rows = steps() if n == DAYS - 1 else []
        yield from ({"referrer": a, "target": b, "client": c} for a, b, c in rows)

    def publish(self, asset: str, site: str, day: dt.date, rows: Iterable[Row]) -> None:
        whole = [
            {"day": day, "site": row.get("url", site).split("/")[2], **row}
            for row in sorted(rows, key=lambda row: str(row.get("url")))
        ]
        table = pa.Table.from_pylist(whole, contracts.table(asset).arrow_schema)
        with self.store.scratch() as scratch:
            path = scratch / "rows.parquet"
            write_table(table, path)
            extra = {"has_referrers": self.has_referrers}
            self.store.publish(asset, day, [path], inputs=[], settings_digest="", extra=extra)

    def publish_transits(self, n: int) -> None:
        opened = [row["url"] for row in self.views(n)]
        extra = {"has_referrers": self.has_referrers}
        publish_transits(self.store, FIRST + n * ONE, self.transits(n), opened, extra=extra)

    def build(self, asset: WindowAsset) -> None:
        build(self.store, self.engine, self.settings, asset, self.day)

    def seeds(self, **hubs: Any) -> dict[str, Row]:
        chosen = self.settings.hubs.model_copy(update=hubs)
        settings = self.settings.model_copy(update={"hubs": chosen})
        build(self.store, self.engine, settings, HUB_SEEDS, self.day)
        rows: list[Row] = self.store.read("hub_seeds", self.day).to_pylist()
        return {row["url"]: row for row in rows}


@pytest.fixture
def web(engine: Engine, tmp_path: Path) -> Web:
    return Web(engine, tmp_path)


def test_seeds_by_hand(web: Web) -> None:
    labels = web.store.read("page_labels", web.day).to_pylist()
    assert {row["url"] for row in labels if row["is_temporal"]} == set(NEWS[:5])
    seeds = web.seeds()
    # SECRET has four clients, GONE was never opened. OLD leads to nothing temporal: it fills the
    # list up, because five people went on from it on the last day.
    assert seeds.keys() == {FRONT, OTHER, INDEX, OLD}
    old = [seeds[OLD][name] for name in ("basis", "temporal_pages", "gain", "revisit_minutes")]
    assert old == ["clicks", 0, 0, 168 * 60]
    front = seeds[FRONT]
    assert {name: front[name] for name in ("rank", "paper_rank", "greedy_rank", "tier")} == {
        "rank": 1,
        "paper_rank": 1,
        "greedy_rank": 1,
        "tier": 1,
    }
    assert (front["site"], front["clients"], front["temporal_pages"]) == ("a.example", 5, 4)
    assert (front["gain"], front["basis"], front["is_entrance"]) == (4, "links", True)
    # All links are of the last day, so that an hour after it they count whole. INDEX leads to three
    # pages, and OTHER to two: one of its own, which counts before those that FRONT leads to.
    assert front["new_per_day"] > seeds[INDEX]["new_per_day"] > seeds[OTHER]["new_per_day"]
    assert [(url, row["rank"], row["gain"]) for url, row in seeds.items()] == [
        (FRONT, 1, 4),
        (OTHER, 2, 1),
        (INDEX, 3, 0),
        (OLD, 4, 0),
    ]
    assert seeds[OTHER]["coverage"] == 1.0
    assert (seeds[INDEX]["paper_rank"], seeds[INDEX]["greedy_rank"]) == (2, None)
    for row in seeds.values():
        assert row["new_per_day_low"] <= row["new_per_day"] <= row["new_per_day_high"]
        assert 0 < row["new_per_visit"] <= row["new_per_day"] * row["revisit_minutes"] / 1440


def test_more_new_pages_are_visited_more_often(web: Web) -> None:
    seeds = web.seeds()
    # INDEX leads to nothing that FRONT does not lead to: a visit there saves a tenth as much.
    front, other, index = (seeds[url]["revisit_minutes"] for url in (FRONT, OTHER, INDEX))
    assert front < other < index
    seeds = web.seeds(visits_per_day=72.0)
    every = [row["revisit_minutes"] for row in seeds.values()]
    assert sum(1440 / minutes for minutes in every) == pytest.approx(72, rel=0.02)
    seeds = web.seeds(visits_per_day=1.0)
    assert 0.95 < sum(1440 / row["revisit_minutes"] for row in seeds.values()) <= 1
    # One visit in five days is none for two hubs that are to be seen every five days.
    seeds = web.seeds(visits_per_day=0.2, longest_hours=120.0)
    assert [url for url, row in seeds.items() if row["rank"]] == [FRONT]
    assert seeds[FRONT]["revisit_minutes"] == 5 * 1440


def test_no_hub_is_lost_to_rounding() -> None:
    """41 hubs that are seen every ten days are 4.1 visits a day, though floats make them fewer."""
    assert 4.1 * 240.0 / 24.0 < 41
    assert most_hubs(Hubs(visits_per_day=4.1, longest_hours=240.0)) == 41


class Numbered(Web):
    """Requests of pages of all ages, on hosts with ports and of two schemes, with numbers."""

    def __init__(self, engine: Engine, root: Path, **changes: Any) -> None:
        dice = np.random.default_rng(5)
        # In the order of URLs the first are the last in that of hosts.
        places = [
            *("http://z.example", "http://a.example"),
            *("https://a.example", "https://a.example:8443", "https://b.example"),
        ]
        lists = [f"{place}/list/{n}" for place in (*places, SEARCH[:-1]) for n in range(6)]
        news = [f"{place}/news/{n}" for place in places for n in range(9)]
        birth = {page: int(dice.integers(0, DAYS)) for page in news}
        self.steps: list[list[Step]] = []
        for day in range(DAYS):
            alive = [page for page in news if birth[page] <= day < birth[page] + 2]
            rows: set[Step] = {(None, page, n) for page in lists[:-6] for n in range(5)}
            for page in alive:
                most = int(dice.integers(20, 90)) if day == birth[page] else 3
                rows |= {(None, page, n) for n in range(most)}
            for hub in lists:
                for page in dice.choice([*alive, *lists[:6]], 9):
                    if hub != page:
                        rows.add((hub, str(page), int(dice.integers(9))))
            self.steps.append(sorted(rows, key=str))
        super().__init__(engine, root, **changes)

    def views(self, n: int) -> Iterable[Row]:
        clients = defaultdict(set)
        for _, page, client in self.steps[n]:
            clients[page].add(client)
        return ({"url": page, "views": len(some)} for page, some in clients.items())

    def transits(self, n: int) -> Iterable[Row]:
        return ({"referrer": a, "target": b, "client": c} for a, b, c in self.steps[n] if a != b)


@pytest.mark.parametrize(
    "changes", [{}, {"hubs": {"top_k": 5}}, {"privacy": {"rotation_days": 3, "min_clients": 2}}]
)
def test_numbers_choose_what_statements_choose(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    if engine.spread is not None:
        pytest.skip("a cluster has one way")
    web = Numbered(engine, tmp_path, **changes)
    by_numbers, chosen = hub_seeds.numbered_hubs, []
    monkeypatch.setattr(
        hub_seeds, "numbered_hubs", lambda *given: chosen.append(by_numbers(*given)) or chosen[-1]
    )
    web.build(HUB_SEEDS)
    assert chosen[0] is not None
    seeds = web.store.read("hub_seeds", web.day).to_pylist()
    assert len({round(row["new_per_day"], 9) for row in seeds}) > 3
    assert len({row["half_life_hours"] for row in seeds}) > 3
    assert max(row["interest_missed"] for row in seeds) > 0
    for most, is_same in ((hub_seeds.LINKS_AT_ONCE, True), (10, False)):
        monkeypatch.setattr(hub_seeds, "LINKS_AT_ONCE", most)
        monkeypatch.setattr(hub_seeds, "numbered_hubs", lambda *_: None)
        web.build(HUB_SEEDS)
        rows = web.store.read("hub_seeds", web.day).to_pylist()
        if is_same:
            assert rows == seeds
            assert "cuts" not in web.store.require("hub_seeds", web.day).extra
        else:  # learned from some hubs, and covered by the first
            learned, covered = web.store.require("hub_seeds", web.day).extra["cuts"]
            assert "learned from one hub in" in learned
            assert "which have 10 links" in covered
            assert {row["url"] for row in rows} >= {row["url"] for row in seeds[:2]}


def test_links_that_are_too_many_for_memory_are_left_to_statements(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine.spread is not None:
        pytest.skip("a cluster has one way")
    web = Numbered(engine, tmp_path)
    whole = web.seeds()
    refusal = Mock(side_effect=TooManyLinks)
    monkeypatch.setattr(hub_choice_compiled, "wanted_links", refusal)
    assert web.seeds() == whole
    assert refusal.called


def test_a_state_folder_may_lie_below_folders_that_are_named_like_columns(
    engine: Engine, tmp_path: Path
) -> None:
    root = tmp_path / "day=2026-01-01" / "page=1" / "url=x"
    root.mkdir(parents=True)
    web = Web(engine, root)
    assert list(web.seeds()) == [FRONT, OTHER, INDEX, OLD]


def test_where_nothing_can_be_learned_clicks_order_the_hubs() -> None:
    """Two days: births of one are known. Twice as many people went on from the second page."""
    nothing = np.zeros(2, np.int64)
    facts = dict.fromkeys((column.name for column in FACTS), nothing)
    columns = facts | {
        "page": np.arange(2),
        "url": [FRONT, OTHER],
        "is_external": [False, False],
        "clients": [9, 9],
        "evidence": np.array([3, 2]) * yields.UNIT**2,
        "place": [1, 2],
        "paper_place": [1, 2],
        "is_entrance": [True, True],
    }
    hubs = pa.table(columns).select([column.name for column in HUB_COLUMNS])
    schema = pa.schema([(column.name, column.type.arrow) for column in HUB_COLUMNS])
    links = hub_links(
        np.arange(2), np.array([0, 1]), np.array([0, 1]), np.zeros(2, np.bool_), nothing + 1
    )
    born = yields.NewLinks(nothing, nothing, nothing)
    model = yields.learn(born, np.ones(2, np.bool_))
    chosen = ChosenHubs(hubs.cast(schema), links, 0, model)
    clicked = pa.table({"url": [OTHER, FRONT, OLD], "clients": [9, 9, 9], "clicks": [8, 4, 2]})
    fronts = without_links(pa.array([], pa.string()), pa.array([], pa.int64()))
    rows = published(chosen, fronts, clicked, Hubs()).sort_by("rank")
    assert rows["url"].to_pylist() == [OTHER, FRONT, OLD]
    assert rows["basis"].to_pylist() == ["links", "links", "clicks"]
    one = published(chosen, fronts, clicked, Hubs(top_k=1))
    assert one.filter(one["rank"].is_valid())["url"].to_pylist() == [OTHER]


def test_hubs_gone_quiet_and_articles_of_old_days_vanish(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OTHER led to the most pages until its event was over, half a window before the end."""

    class Over(Web):
        def transits(self, n: int) -> Iterable[Row]:
            for client in range(5):
                yield {"referrer": None, "target": FRONT, "client": client}
                if n >= DAYS - 4:
                    yield {"referrer": FRONT, "target": LATE[n - DAYS + 4], "client": client}
                if n < 5:
                    yield {"referrer": None, "target": OTHER, "client": client}
                    for page in NEWS[1:4]:
                        yield {"referrer": OTHER, "target": page, "client": client}

        def views(self, n: int) -> Iterable[Row]:
            yield from super().views(n)
            for k, page in enumerate(LATE):
                if DAYS - 4 + k <= n:
                    yield {"url": page, "views": 40 if n == DAYS - 4 + k else 2}

    over = Over(engine, tmp_path)
    monkeypatch.setattr(yields, "HALF_LIVES", (0.25,))
    seeds = over.seeds()
    assert seeds[OTHER]["paper_rank"] == 1
    assert seeds[OTHER]["new_per_day"] < 0.2 * seeds[FRONT]["new_per_day"]
    monkeypatch.setattr(yields, "HALF_LIVES", (0.1,))
    assert next(iter(over.seeds(top_k=1))) == FRONT
    # The only hub of its site stays an entrance.
    assert over.seeds()[OTHER]["is_entrance"]


def test_hubs_can_be_asked_for(web: Web) -> None:
    assert [url for url, row in web.seeds(top_k=1).items() if row["rank"]] == [FRONT]
    assert web.seeds()[OTHER]["basis"] == "links"
    # A site whose pages are no hubs has its front page, as one without referrers has.
    assert web.seeds(more_search_engines=[site_of(OTHER)])[OTHER]["basis"] == "front_page"


def test_a_page_of_few_clients_is_no_seed_however_often_they_came(
    engine: Engine, tmp_path: Path
) -> None:
    """With a new key every day four people look like forty."""

    class Rotating(Web):
        def transits(self, n: int) -> Iterable[Row]:
            for client in range(4):
                yield {"referrer": None, "target": OTHER, "client": 100 * n + client}
                yield {"referrer": OTHER, "target": NEWS[0], "client": 100 * n + client}
            for client in range(5):
                yield {"referrer": None, "target": FRONT, "client": 100 * n + client}
                yield {"referrer": FRONT, "target": NEWS[0], "client": 100 * n + client}

    rotating = Rotating(engine, tmp_path / "a", privacy={"rotation_days": 1})
    assert {url: row["clients"] for url, row in rotating.seeds().items()} == {FRONT: 5}
    one_key = Rotating(engine, tmp_path / "b")
    assert one_key.seeds()[OTHER]["clients"] == 40


def test_everything_promised_holds(web: Web) -> None:
    web.seeds()
    inspector = Inspector(web.store, web.engine, web.settings)
    found = inspector.inspect(contracts.HUB_SEEDS, [web.day])[web.day]
    assert [one for one in found if one.status not in (Status.HELD, Status.NOT_JUDGED)] == []


def test_broken_promises_are_found(web: Web) -> None:
    web.seeds()
    rows = web.store.read("hub_seeds", web.day).to_pylist()
    rows[0] |= {"clients": 4, "coverage": 1.5, "gain": 3}
    rows[1] |= {"url": "https://b.example/nobody"}
    rows[2] |= {"rank": 7, "tier": None}
    web.publish("hub_seeds", FRONT, web.day, rows)
    inspector = Inspector(web.store, web.engine, web.settings)
    found = inspector.inspect(contracts.HUB_SEEDS, [web.day])[web.day]
    assert {one.expected.name for one in found if one.status is Status.BROKEN} == {
        "enough_clients",
        "coverage_in_range",
        "seeds_are_reachable",
        "seeds_are_whole",
        "gains_sum_to_coverage",
    }


def test_without_referrers_there_are_no_hubs_and_nothing_to_judge(
    engine: Engine, tmp_path: Path
) -> None:
    class Blind(Web):
        has_referrers = False

        def transits(self, n: int) -> Iterable[Row]:
            return [
                {"referrer": None, "target": page, "client": client}
                for page in (FRONT, OTHER)
                for client in range(5)
            ]

    blind = Blind(engine, tmp_path)
    seeds = blind.seeds()  # the front page of the site with temporal pages
    assert {url: (row["rank"], row["basis"]) for url, row in seeds.items()} == {
        FRONT: (1, "front_page"),
        OTHER: (2, "front_page"),
    }
    assert seeds[FRONT]["temporal_pages"] == 0
    assert seeds[FRONT]["paper_rank"] is None
    assert seeds[FRONT]["new_per_day"] > 0
    assert blind.store.require("hub_seeds", blind.day).extra["has_referrers"] is False
    inspector = Inspector(blind.store, blind.engine, blind.settings)
    found = inspector.inspect(contracts.HUB_SEEDS, [blind.day])[blind.day]
    assert {one.expected.name for one in found if one.status is Status.NOT_JUDGED} >= {"has_hubs"}


def test_a_front_page_that_people_only_came_from_is_the_hub_of_a_site_without_any(
    engine: Engine, tmp_path: Path
) -> None:
    class Cached(Web):
        """Front pages are answered by a cache: nobody is seen to open them."""

        def views(self, n: int) -> Iterable[Row]:
            yield from (row for row in super().views(n) if row["url"] in NEWS)

        def transits(self, n: int) -> Iterable[Row]:
            few = [(f"{A}/rare", NEWS[0], client) for client in range(4)]
            many = [(FRONT, page, client) for page in NEWS[:4] for client in range(6)]
            rows = [*few, *many, *((OTHER, NEWS[4], client) for client in range(4))]
            return [
                {"referrer": referrer, "target": target, "client": client}
                for referrer, target, client in (rows if n == DAYS - 1 else [])
            ]

    cached = Cached(engine, tmp_path)
    seeds = cached.seeds()  # only four people came from OTHER
    assert {url: (row["rank"], row["basis"]) for url, row in seeds.items()} == {
        FRONT: (1, "front_page")
    }
    assert (seeds[FRONT]["clients"], seeds[FRONT]["is_entrance"]) == (6, True)
    inspector = Inspector(cached.store, cached.engine, cached.settings)
    found = inspector.inspect(contracts.HUB_SEEDS, [cached.day])[cached.day]
    assert not [rule for rule in found if rule.status is Status.BROKEN]


hosts = ("a.example", "a.example:8443", "b.example", "c.example")
urls = st.sampled_from([f"https://{h}/{p}" for h in hosts for p in ("", "ü", "x?y='1")])
walks = st.lists(st.tuples(st.none() | urls, urls, st.integers(1, 4)), min_size=1, max_size=30)
some = st.sets(urls)


@examples(max_examples=25)
@given(walked=walks, wanted=some, seeds=some)
def test_links_are_what_a_loop_says(
    engine: Engine, walked: Sequence[Step], wanted: set[str], seeds: set[str]
) -> None:
    linked = defaultdict(set)
    opened = {target: {c for _, other, c in walked if other == target} for _, target, _ in walked}
    for referrer, target, _ in walked:
        if referrer and (target in wanted or referrer in seeds):
            linked[referrer].add(target)
    with TemporaryDirectory() as folder:
        out = Path(folder)
        settings = load_settings(out, **ROTATING)
        rows = [{"referrer": a, "target": b, "client": c} for a, b, c in walked]
        transits = as_inputs([day_files(FIRST, rows, out)])
        totals = [
            {"day": FIRST, "site": site_of(url), "url": url, "total": 1, "birth": FIRST}
            | {"number": n}
            for n, url in enumerate(opened)
        ]
        page_totals = [str(out / "totals")]
        pq.write_table(
            pa.Table.from_pylist(totals, contracts.PAGE_TOTALS.arrow_schema), page_totals[0]
        )
        listed = pa.table({"url": pa.array(sorted(wanted), pa.string())})
        pq.write_table(listed, out / "listed")
        tables = link_tables(
            engine, transits, page_totals, [str(out / "listed")], FIRST, out, sorted(seeds)
        )
        pages = pq.read_table(tables.pages).to_pylist()
        visits = came_to(engine, settings, transits, tables.pages, out)
        found = read_links(tables)
    names = [page["url"] for page in pages]
    assert names == sorted(set(linked).union(*linked.values()), key=in_order)
    assert [page["page"] for page in pages] == list(range(len(pages)))
    assert len(found) == len(pages)
    for page in pages:
        row = found.of(page["page"])
        url = page["url"]
        assert [names[n] for n in row] == sorted(linked[url], key=in_order)
        assert (page["number"] is not None) == (url in opened)
        assert visits.get(page["page"], {"clients": 0})["clients"] == len(opened.get(url, ()))


def in_order(url: str) -> tuple[bytes, bytes]:
    return url.split("/")[2].encode(), url.encode()


def came_to(
    engine: Engine, settings: Settings, transits: Inputs, pages: list[str], out: Path
) -> dict[int, Row]:
    """Return the rows of `link_visits` by page."""
    days = [LONG_AGO, *(FIRST + n * ONE for n in range(DAYS))]
    files = count_clients(engine, settings, VisitFiles(transits, (), days), pages, out)
    return {row["page"]: row for row in pq.read_table(files).to_pylist()}


def test_traffic_says_of_opened_pages_what_transits_say(engine: Engine, tmp_path: Path) -> None:
    class Busy(Web):
        """Steps on every third day, by other clients each time, and views to go with them."""

        def transits(self, n: int) -> Iterable[Row]:
            for k, (a, b, c) in enumerate(steps() if n % 3 == 0 else []):
                if (k + n) % 4:
                    yield {"referrer": a, "target": b, "client": c + n % 2}

        def views(self, n: int) -> Iterable[Row]:
            clients = defaultdict(set)
            for row in self.transits(n):
                clients[row["target"]].add(row["client"])
            yield from ({"url": url, "views": len(some)} for url, some in clients.items())
            if n % 3:
                yield {"url": FRONT, "views": 1}

    web = Busy(engine, tmp_path)
    files = {name: web.store.files(name, web.day) for name in ("page_totals", "page_traffic")}
    days = [FIRST + n * ONE for n in range(DAYS)]
    transits = transit_inputs(web.store, [web.store.require("transits", day) for day in days])
    totals = files["page_totals"]
    known = VisitFiles(transits, files["page_traffic"], [LONG_AGO, *days])
    pages = link_tables(engine, transits, totals, totals, FIRST, tmp_path).pages
    found = {}
    one_key = load_settings(tmp_path, privacy={"rotation_days": 0})
    for name, settings in (("one", one_key), ("many", load_settings(tmp_path, **ROTATING))):
        out = tmp_path / name
        out.mkdir()
        made = count_clients(engine, settings, known, pages, out)
        found[name] = {row["page"]: row for row in pq.read_table(made).to_pylist()}
    opened = [row["page"] for row in pq.read_table(pages).to_pylist() if row["number"] is not None]
    assert {found["one"][n]["clients"] for n in opened} >= {5, 6}
    assert found["one"] == {n: found["many"][n] for n in opened}
