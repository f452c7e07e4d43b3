"""Flow and births of windows."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from temporal_assets import contracts
from temporal_assets.contracts import Table
from temporal_assets.engines.base import Engine
from temporal_assets.windows.crawls.timely_simulation import TIMELY_SIMULATION, new_per_hour
from temporal_assets.windows.frame.asset import Job, Sources
from temporal_assets.windows.lists.page_flow import flow_from
from temporal_assets.windows.patterns.pattern_ranks import FLOW_OF_PATTERNS, RANKED
from tests.histories import Histories
from tests.sites import ASSETS, FIRST, Labelled
from tests.tables import write_table

DAYS = 30
LAST = DAYS - 1
FLOW = {"sites": {"rule": "flow"}, "prefixes": {"rule": "flow", "label": "temporal"}}

OLD = {f"https://portal.example/help/{n}": [3] * DAYS for n in range(40)}
"""Evergreen pages that were there before."""
GUIDES = {f"https://portal.example/help/new/{n}": [0] * 12 + [4] * 18 for n in range(8)}
"""Evergreen pages that are born in the window."""
NEWS = {
    f"https://portal.example/news/{n}": [0] * (8 + n) + [30, 9] + [0] * (DAYS - 10 - n)
    for n in range(12)
}
YOUNG = {f"https://portal.example/news/y{n}": [0] * (DAYS - 2) + [4, 6] for n in range(4)}
FRONT = {"https://small.example/": [5] * DAYS}
SITE = {f"https://small.example/{n}": [0] * 20 + [50] + [0] * 9 for n in range(6)}
PAGES = OLD | GUIDES | NEWS | YOUNG | SITE | FRONT


@pytest.fixture
def flowing(engine: Engine, tmp_path: Path) -> Labelled:
    here = Labelled(engine, tmp_path, days=DAYS, **FLOW)
    here.write_days(PAGES)
    births = {url: next(n for n, one in enumerate(views) if one) for url, views in PAGES.items()}
    chances = dict(zip(YOUNG, (0.9, 0.8, 0.7, None), strict=True))
    here.write_labels(LAST, PAGES, {*NEWS, *SITE}, set(), chances, births)
    here.make(LAST)
    return here


def test_the_flow_is_what_was_born_and_what_became_of_it(flowing: Labelled) -> None:
    rows = {row["url"]: row for row in flowing.rows("page_flow", LAST)}
    assert set(rows) == {*GUIDES, *NEWS, *SITE, *[*YOUNG][:3]}
    assert {rows[url]["temporal"] for url in NEWS} == {1.0}
    assert {rows[url]["temporal"] for url in GUIDES} == {0.0}
    assert [(rows[url]["temporal"], rows[url]["basis"]) for url in [*YOUNG][:3]] == [
        (0.9, "early"),
        (0.8, "early"),
        (0.7, "early"),
    ]
    assert {row["is_reliable"] for row in rows.values()} == {True}


def test_prefixes_and_sections_follow_the_flow_and_not_the_stock(flowing: Labelled) -> None:
    trees = {row["prefix"]: row for row in flowing.rows("prefix_trees", LAST)}
    news = trees["portal.example/news/"]
    assert (news["flow_pages"], news["flow_temporal_pages"]) == (15, pytest.approx(14.4))
    assert news["flow_basis"] == "flow"
    assert trees["portal.example/help/"]["flow_score"] < 0.3
    prefixes = [row["prefix"] for row in flowing.rows("news_prefixes", LAST)]
    assert prefixes == ["portal.example/news/", "small.example/"]
    sections = {row["prefix"]: row for row in flowing.rows("section_scores", LAST)}
    listed = [name for name, row in sections.items() if row["is_selected"]]
    assert listed == prefixes
    assert sections["portal.example/news/"]["rank"] == 1
    # The site as a whole: 16.4 of 25 new pages are worth it, though most of its pages are old.
    sites = {row["site"]: row for row in flowing.rows("site_scores", LAST)}
    assert sites["portal.example"]["is_selected"]
    assert sites["portal.example"]["score_1"] < 0.25
    assert sites["portal.example"]["merit"] > sites["small.example"]["merit"] > 0


def test_a_window_without_flow_goes_by_its_stock(engine: Engine, tmp_path: Path) -> None:
    """All views on one day: nobody knows what was born."""
    here = Labelled(engine, tmp_path, days=8, **FLOW)
    pages = {f"https://a.example/{n}": [0] * 7 + [90] for n in range(6)}
    here.write_days(pages, missing=range(7))
    here.write_labels(7, pages, set(pages), set(), births=dict.fromkeys(pages, 7))
    here.make(7)
    assert here.rows("page_flow", 7) == []
    (tree,) = here.rows("prefix_trees", 7)
    assert (tree["flow_pages"], tree["flow_basis"]) == (0, "stock")
    (prefix,) = here.rows("news_prefixes", 7)
    assert (prefix["prefix"], prefix["rule"], prefix["flow_basis"]) == (
        "a.example/",
        "flow",
        "stock",
    )
    assert prefix["score"] > 0.9
    (site,) = here.rows("site_scores", 7)
    assert site["is_selected"]


def test_a_site_of_which_no_page_has_many_views_is_listed_by_its_flow(flowing: Labelled) -> None:
    """The site has few readers: no page of it has a history or a label."""
    rows = flowing.rows("page_flow", LAST)
    few = [
        {"site": "few.example", "url": f"https://few.example/news/{n}", "birth": flowing.day(LAST)}
        | {"views": 4, "is_reliable": False, "temporal": 0.9, "basis": "early"}
        for n in range(8)
    ]
    flowing.publish("page_flow", flowing.day(LAST), [*rows, *few])
    known = {"site": "few.example", "views": 4, "visits": 4, "clients": 2, "few_clients": [1, 2]}
    known |= {"referred": 0, "referrals": 0, "links": [], "is_new": True}
    came = [known | {"url": row["url"], "few_clients": [1, n]} for n, row in enumerate(few)]
    traffic = flowing.rows("page_traffic", LAST)
    flowing.publish("page_traffic", flowing.day(LAST), [*traffic, *came])
    flowing.make(LAST, [asset for asset in ASSETS if asset.name != "page_flow"])
    trees = {row["prefix"]: row for row in flowing.rows("prefix_trees", LAST)}
    for name in ("few.example/", "few.example/news/"):
        counts = [trees[name][column] for column in ("pages", "flow_pages", "clients", "views")]
        assert counts == [0, 8, 8, 0]
    assert trees["few.example/"]["flow_temporal_pages"] == pytest.approx(7.2)
    assert "few.example/" in {row["prefix"] for row in flowing.rows("news_prefixes", LAST)}
    sections = {row["prefix"]: row for row in flowing.rows("section_scores", LAST)}
    assert sections["few.example/"]["is_selected"]


@pytest.mark.parametrize(("days", "unseen"), [(60, 7), (14, 7), (9, 4), (2, 1)])
def test_the_first_observed_week_is_not_counted(days: int, unseen: int) -> None:
    present = [FIRST + dt.timedelta(days=2 * n) for n in range(days)]
    assert flow_from(present) == present[unseen]


def test_a_single_day_has_no_flow() -> None:
    assert flow_from([FIRST]) > FIRST


def test_a_pattern_of_which_no_page_is_known_has_the_share_of_its_site(
    engine: Engine, tmp_path: Path
) -> None:
    def rows(table: Table, *given: dict[str, Any]) -> list[str]:
        fixed = {pa.bool_(): False, pa.string(): "", pa.date32(): FIRST, pa.list_(pa.int64()): []}
        actual = [
            {field.name: argument.get(field.name, fixed.get(field.type, 0)) for field in schema}
            for schema in [table.arrow_schema]
            for argument in given
        ]
        write_table(pa.Table.from_pylist(actual, table.arrow_schema), tmp_path / table.name)
        return [str(tmp_path / table.name)]

    ranked = [
        {"site": site, "pattern": n, "labelled_pages": labelled, "temporal_share": 0.0}
        for site, n, labelled in (("a.example", 1, 0), ("a.example", 2, 9), ("b.example", 1, 0))
    ]
    root = {"site": "a.example", "depth": 0, "flow_pages": 9, "flow_score": 0.75}
    actual = engine.query(
        "pattern_ranks",
        {
            "ranked_patterns": rows(RANKED, *ranked),
            "pattern_flow": rows(FLOW_OF_PATTERNS),
            "prefix_trees": rows(contracts.PREFIX_TREES, root),
        },
        {"stock_weight": 1.0, "strength": 4.0},
        contracts.PATTERN_RANKS,
        tmp_path,
    )
    contract = pq.read_table([str(path) for path in actual], partitioning=None)
    assert contract["flow_score"].to_pylist() == [0.75, pytest.approx(3 / 13), None]


COUNTED_DAYS = 10


@pytest.mark.parametrize(("missing", "a_day"), [(None, 24 / 9), (3, 17 / 7), (0, 22 / 8)])
@pytest.mark.parametrize("days_now", [COUNTED_DAYS, 6, 14])
def test_births_are_those_of_crawled_sites_on_days_that_tell(
    engine: Engine, tmp_path: Path, missing: int | None, a_day: float, days_now: int
) -> None:
    """Nine pages are older, two are born on the second day, and three on each one after it.

    Windows may have become shorter or longer since this one was made.
    """
    births = [0] * 9 + [1] * 2 + [2] * 3 + [3] * 3 + [4] * 4 + [5] * 3 + [6] * 3 + [7] * 3
    births += [8] * 3
    views = np.array([[0] * day + [20] * (COUNTED_DAYS - day) for day in births])
    views = np.concatenate([views, views])
    urls = [f"https://{site}.example/{n:03}" for site in "ab" for n in range(len(births))]
    here = Histories(engine, tmp_path, views, missing, urls)
    sites = tmp_path / "sites.parquet"
    pq.write_table(pa.table({"site": ["a.example"]}), sites)
    now = here.settings.window.model_copy(update={"days": days_now})
    job = Job(
        TIMELY_SIMULATION,
        here.store,
        engine,
        here.settings.model_copy(update={"window": now}),
        here.day,
        Sources({}, {}, {}, {}, ()),
        tmp_path,
    )
    assert new_per_hour(job, here.day, [str(sites)]) == pytest.approx(a_day / 24)
