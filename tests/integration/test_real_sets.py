"""Real sets of the benchmarks: the product's windows and the plain arrays hold the same visits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.real_judged import folder_of, site_of
from benchmarks.real_sets import SETS, daily_of, edges_of
from benchmarks.real_variations import VARIATIONS
from benchmarks.real_visits import VISITS, stretched, times_of, visits_of

pytestmark = pytest.mark.slow

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
    short = VARIATIONS["7_days"](real)
    assert short.window["days"] == 7
    # Where the first window of the set ends: what is decided is judged by the same days.
    assert short.first_decision == real.window["days"]
