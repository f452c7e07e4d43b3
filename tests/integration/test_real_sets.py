"""Real sets of clicks and logs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from benchmarks.real_judged import folder_of, site_of
from benchmarks.real_sets import SETS, daily_of, edges_of
from benchmarks.real_variations import VARIATIONS
from benchmarks.real_visits import VISITS, stretched, times_of, visits_of
from temporal_assets.core.labels.early import Score, learn
from temporal_assets.core.labels.early_comparison import CONCENTRATION, EARLY, PRIOR, compare
from temporal_assets.core.labels.labels import Thresholds

pytestmark = pytest.mark.slow


class Articles(NamedTuple):
    """Views on the first three days, and whether most of them fell on the first."""

    views: NDArray[np.int64]
    truth: NDArray[np.bool_]
    site: NDArray[Any]


def articles(file: Path) -> tuple[Articles, Articles]:
    """Articles born on days 2 and 3 (known), and on days 4 to 6 (new)."""
    clicks = pq.read_table(file, columns=["ts", "article", "client"])
    article, client = (clicks.column(name).to_numpy() for name in ("article", "client"))
    # The first click is at midnight in Brazil, where the portal's readers are.
    hours = clicks.column("ts").to_numpy().astype("datetime64[h]").astype(np.int64)
    day = (hours - hours.min()) // 24
    inside = day < 8
    seen = np.unique(np.column_stack([article, day, client])[inside], axis=0)
    pages, row = np.unique(seen[:, 0], return_inverse=True)
    views = np.zeros((len(pages), 8), np.int64)
    np.add.at(views, (row, seen[:, 1]), 1)
    born = (views > 0).argmax(axis=1)
    padded = np.pad(views, ((0, 0), (0, 3)))
    first = padded[np.arange(len(views))[:, None], born[:, None] + np.arange(3)]
    total = first.sum(axis=1)
    parts = []
    for low, high in ((1, 2), (3, 5)):
        rows = np.flatnonzero((born >= low) & (born <= high) & (total >= 10))
        names = np.full(len(rows), "portal")
        parts.append(Articles(first[rows], first[rows, 0] > 0.7 * total[rows], names))
    return parts[0], parts[1]


@pytest.fixture(scope="module")
def found(shared_data: Path) -> dict[tuple[int, str], Score]:
    known, new = articles(shared_data / "globo_clicks" / "clicks_2017-10-01_to_08.parquet")
    assert (len(known.truth), len(new.truth)) == (1398, 1883)
    model = learn(known.views, known.truth, known.site, known.site, (1, 2), n_days=1)
    answers = compare(
        model, new.views, new.truth, new.site, new.site, (1, 2), Thresholds(n=1.0, m=1)
    )
    return {(answer.age, answer.answer): answer for answer in answers}


def test_two_days_of_clicks_say_more_than_any_other_answer(
    found: dict[tuple[int, str], Score],
) -> None:
    """Measured: 0.958 right against 0.640 by concentration and 0.499 by the portal's history."""
    early = found[2, EARLY]
    assert early.accuracy > 0.93
    assert early.accuracy > found[2, CONCENTRATION].accuracy + 0.15
    assert early.log_loss is not None
    assert early.log_loss < 0.12 < (found[2, PRIOR].log_loss or 0)


def test_one_day_on_one_site_says_something_and_pretends_to_no_more(
    found: dict[tuple[int, str], Score],
) -> None:
    """Measured: 0.695 right; the history of one site says nothing of its pages."""
    early = found[1, EARLY]
    assert early.accuracy > 0.67
    assert early.reliability is not None
    assert early.reliability.error < 0.08
    assert early.log_loss is not None
    assert early.log_loss < 0.55 < (found[1, PRIOR].log_loss or 0)


ROLES: Final = ((1, "chosen on"), (2, "reported on"))
"""Columns of the table of sets."""


def test_a_set_gives_the_same_views_as_arrays_and_as_tables(
    shared_data: Path, tmp_path: Path
) -> None:
    real = SETS["elastic"]
    daily = real.daily(shared_data)
    built = real.build(shared_data, tmp_path)
    day = built.decisions[0]
    assert built.make(["page_totals"], day) == ["page_totals"]
    number = (day - daily.first).days
    window = daily.views[:, number - built.settings.window.days + 1 : number + 1].sum(axis=1)
    rows = built.store.read("page_totals", day)
    published = dict(zip(rows["url"].to_pylist(), rows["total"].to_pylist(), strict=True))
    held = dict(zip(daily.urls.tolist(), window.tolist(), strict=True))
    assert published == {url: views for url, views in held.items() if views}
    again = real.build(shared_data, tmp_path)
    assert (again.days, again.decisions) == (built.days, built.decisions)
    assert again.store.require("requests", day) == built.store.require("requests", day)
    assert built.decisions[-1] < built.days[-real.horizon - real.settle]


@pytest.mark.parametrize("name", ["elastic", "bbc_most_read_spring", "wikispeedia"])
def test_visits_have_the_columns_of_all_sets_in_the_order_of_time(
    shared_data: Path, name: str
) -> None:
    visits = SETS[name].visits(shared_data)
    assert visits.schema.names == VISITS.names
    assert (np.diff(times_of(visits)).astype(np.int64) >= 0).all()
    edges = edges_of(visits)
    assert len(edges.referrer) > 0
    assert not (edges.referrer == edges.target).any()


def test_stretched_time_starts_at_midnight_and_keeps_proportions() -> None:
    time = np.array(["2017-10-01T03:00", "2017-10-01T05:00", "2017-10-01T09:00"], "M8[us]")
    visits = stretched(visits_of(time, [1, 1, 2], ["https://a.example/"] * 3), 6)
    expected = np.array(["2017-10-01T00:00", "2017-10-01T08:00", "2017-10-02T00:00"], "M8[us]")
    assert times_of(visits).tolist() == expected.tolist()
    daily = daily_of(visits)
    assert daily.views.tolist() == [[1, 1]]
    assert daily.births.tolist() == [0]


def test_no_set_is_both_chosen_on_and_reported_on_under_one_name() -> None:
    roles = {real_set.role for real_set in SETS.values()}
    assert roles == {"chosen on", "reported on"}
    assert all(name == one.name for name, one in SETS.items())


def test_the_documentation_names_every_set_and_its_role(repository: Path) -> None:
    page = (repository / "docs" / "evidence.md").read_text("utf-8")
    page = page.partition("## The sets")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")]
    named = {role: {name for row in rows for name in _quoted(row[place])} for place, role in ROLES}
    for real in SETS.values():
        assert real.name in named[real.role]
        assert sum(real.name in names for names in named.values()) == 1


def _quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_variations_take_clients_referrers_sites_and_days_away(tmp_path: Path) -> None:
    first = np.datetime64("2017-10-01", "us")
    time = first + np.arange(1000) * np.timedelta64(10, "m")
    urls = [
        f"https://{'aab'[n % 3]}.example/{'news' if n % 5 else 'blog'}/{n}" for n in range(1000)
    ]
    visits = visits_of(time, np.arange(1000) % 200, urls, urls[1:] + urls[:1])
    real = replace(SETS["mix_b"], read=lambda _: visits)

    def varied(name: str) -> pa.Table:
        changed = VARIATIONS[name](real)
        assert changed.name == f"mix_b_{name}"
        return changed.visits(tmp_path)

    thin = varied("thin")
    assert 0 < len(set(thin["client"].to_pylist())) < 60
    assert varied("no_referrers")["referrer"].null_count == 1000
    assert {site_of(url) for url in varied("one_site")["url"].to_pylist()} == {"a.example"}
    assert varied("five_sites").equals(visits)
    assert {site_of(url) for url in varied("half_of_sites")["url"].to_pylist()} == {"b.example"}
    section = {folder_of(url) for url in varied("one_section")["url"].to_pylist()}
    assert section == {"a.example/news"}
    assert times_of(varied("other_weekdays"))[0] == first + np.timedelta64(3, "D")
    days = set((times_of(varied("lost_days")).astype("M8[D]")).astype(str).tolist())
    assert days == {f"2017-10-0{day}" for day in (1, 2, 3, 4, 5, 7)}
    assert 0 < len(set(varied("thinnest")["client"].to_pylist())) < 10
    silent = varied("one_silent_site")
    has_referrer = silent.filter(silent["referrer"].is_valid())["url"].to_pylist()
    assert {site_of(url) for url in has_referrer} == {"b.example"}
    assert times_of(varied("later_clocks"))[0] == first + np.timedelta64(9, "h")
    after = VARIATIONS["after_9_days"](real)
    assert (after.first_decision, after.window["days"]) == (9, real.window["days"])
    noise = VARIATIONS["robots"](real).noise
    assert noise is not None
    robots = noise(visits).filter(pc.starts_with(noise(visits)["client"], "robot-"))
    assert set(robots["url"].to_pylist()) == set(urls)
    assert varied("robots").equals(visits)
    twice = VARIATIONS["twins"](real).noise
    assert twice is not None
    assert twice(visits)["url"].to_pylist()[::2] == twice(visits)["url"].to_pylist()[1::2] == urls
    assert len(set(twice(visits)["client"].to_pylist())) == 400
    short = VARIATIONS["7_days"](real)
    assert short.window["days"] == 7
    # Where the first window of the set ends: what is decided is judged by the same days.
    assert short.first_decision == real.window["days"]
