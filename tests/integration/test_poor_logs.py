"""Logs with little to say: every decision has an answer, says what it rests on, and is a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.real_sets import SETS, Built
from benchmarks.real_visits import visits_of
from temporal_assets import contracts
from temporal_assets.policy import Policy
from temporal_assets.quality.evaluate import Status
from temporal_assets.quality.inspect import Inspector
from temporal_assets.windows.policy.crawl_policy import files_of

pytestmark = pytest.mark.slow

TABLES: Final = (
    *("page_labels", "early_labels", "page_flow", "site_scores", "section_scores"),
    *("news_prefixes", "hub_seeds", "crawl_policy"),
)
KINDS: Final[dict[str, tuple[int, ...]]] = {
    "short": (12, 9, 1),
    "long": (4,) * 60,
    "once": (30,),
    "rare": (3, 2),
}
"""Clients of a page on each day of its life."""

SHAPES: Final[dict[str, dict[str, Any]]] = {
    "no referrers": {"has_referrers": False},
    "one site": {"sites": ("a",)},
    "nine days": {"days": 9},
    "one day": {"days": 1},
    "short lives alone": {"kinds": ("short",)},
    "long lives alone": {"kinds": ("long",)},
    "all views on one day": {"days": 20, "born": (10,), "kinds": ("once",)},
    "few views, none of late": {"born": (3,), "kinds": ("rare",)},
    "nine days of long lives on one site without referrers": {
        "days": 9,
        "sites": ("a",),
        "kinds": ("long",),
        "has_referrers": False,
    },
    "one day of one site without referrers": {"days": 1, "sites": ("a",), "has_referrers": False},
}


def visits(
    days: int = 16,
    sites: tuple[str, ...] = ("a", "b"),
    kinds: tuple[str, ...] = ("short", "long"),
    has_referrers: bool = True,
    born: tuple[int, ...] | None = None,
) -> pa.Table:
    """Visits to sites on each of which a page of each kind appears in its folder every day."""
    rows: list[tuple[int, str, str | None]] = []
    for site in sites:
        front = f"https://{site}.example/"
        rows += [(day, front, None) for day in range(days) for _ in range(6)]
        for birth in born or range(days):
            for kind in kinds:
                url = f"{front}{kind}/{birth}"
                for age, clients in enumerate(KINDS[kind][: days - birth]):
                    rows += [(birth + age, url, front if has_referrers else None)] * clients
    day = np.array([row[0] for row in rows])
    time = np.datetime64("2026-03-01T12", "us") + day * np.timedelta64(1, "D")
    clients = [f"10.0.{n // 250}.{n % 250}" for n in range(len(rows))]
    return visits_of(time, clients, [row[1] for row in rows], [row[2] for row in rows])


@pytest.fixture(scope="module", params=SHAPES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    shape = SHAPES[request.param]
    window = {"days": 20, "min_days": 1}
    log = visits(**shape)
    real = replace(SETS["mix_b"], name=request.param, read=lambda _: log, window=window, listed=())
    actual = real.build(Path(), tmp_path_factory.mktemp("poor"))
    actual.make(TABLES, actual.days[-1])
    return actual


def numbers(table: pa.Table) -> Iterator[tuple[str, Any]]:
    for name in table.column_names:
        if pa.types.is_floating(table.schema.field(name).type):
            yield name, table[name].drop_null()


def test_every_table_keeps_its_promises_and_has_no_nan(built: Built) -> None:
    day = built.days[-1]
    inspector = Inspector(built.store, built.engine, built.settings)
    for name in TABLES:
        table = built.store.read(name, day)
        for column, values in numbers(table):
            assert pc.all(pc.is_finite(values)).as_py() is not False, (name, column)
        judged = inspector.inspect(contracts.table(name), [day])[day]
        assert [
            judgement.name for judgement in judged if judgement.status is Status.BROKEN
        ] == [], name


def test_every_page_and_hub_says_what_its_answer_rests_on(built: Built) -> None:
    day = built.days[-1]
    for name, column in (
        *(("page_labels", "label_basis"), ("early_labels", "basis")),
        *(("site_scores", "flow_basis"), ("hub_seeds", "basis")),
    ):
        assert built.store.read(name, day)[column].null_count == 0
    assert len(built.store.read("hub_seeds", day)) > 0
    probability = built.store.read("early_labels", day)["probability"].drop_null()
    assert (
        not len(probability) or 0 < pc.min(probability).as_py() <= pc.max(probability).as_py() < 1
    )


def test_the_policy_answers_for_new_pages(built: Built) -> None:
    day = built.days[-1]
    folder = files_of(built.store, built.settings, built.store.require("crawl_policy", day))
    assert folder is not None
    policy = Policy.load(folder)
    for url in ("https://a.example/short/99", "https://a.example/long/99", "https://c.example/x"):
        assert policy.match(url).reason
