"""The front page: what it says follows the numbers, and it stands before everything else."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import Any

from temporal_assets.reports.document import (
    Chart,
    Figures,
    Forest,
    Report,
    section_content,
    section_of,
)
from temporal_assets.reports.report_page import page
from temporal_assets.reports.sections.front import front
from temporal_assets.reports.sections.front_facts import Front
from tests.reports import EVIL
from tests.unit.reports.test_sections import judged

DAY = dt.date(2026, 1, 31)


def days(count: int, **values: Any) -> list[dict[str, Any]]:
    return [{"day": DAY - dt.timedelta(n), **values} for n in range(count - 1, -1, -1)]


def later(method: str, rule: str, f: float, **more: Any) -> dict[str, Any]:
    row = judged(method, rule, 10, 20, trial="out_of_time", horizon_days=30, **more)
    return {**row, "f": f, "f_low": f - 0.1, "f_high": f + 0.1}


def reached(k: int, ours: int, baseline: int | None, **more: Any) -> dict[str, Any]:
    row = {"trial": "out_of_time", "horizon_days": 30, "k": k, "wanted": 100}
    row |= {"lead": 5, "lead_low": -2.0, "lead_high": 12.0}
    return row | {"ours_one_hop": ours, "baseline_one_hop": baseline} | more


CRAWL = {
    "trial": "out_of_time", "horizon_days": 7, "fetches_per_hour": 10.0, "remaining": 0.9,
    "remaining_low": 0.8, "remaining_high": 0.95, "median_delay_hours": 0.5,
    "median_delay_low_hours": 0.25, "median_delay_high_hours": 3.0, "temporal_fetched": 0.97,
    "temporal": 40,
}  # fmt: skip

FRONT = Front(
    day=DAY,
    traffic=days(5, views=100, pages=9),
    births=days(3, pages=4, temporal=1),
    entries=[
        {"kind": "hub", "decision": "now", "entries": 2},
        {"kind": "pattern", "decision": "later", "entries": 7},
    ],
    budget=[{"what": "hubs", "fetches": 30.0}, {"what": "new pages", "fetches": 10.0}],
    watched=[{"kind": "hub", "name": EVIL, "why": "every 5 minutes"}],
    hubs=[{"name": EVIL, "new_per_day": 2.0, "new_per_day_low": 1.0, "new_per_day_high": 3.5}],
    changes=[{"site": EVIL, "change": "new in the list"}],
    crawled=[],
    best_source=[],
    compared=DAY - dt.timedelta(1),
    days=60,
    missing=2,
    opened=900,
    labelled=300,
    days_to_judge=0,
    rejected=0.013,
    failed=[],
    warned=[],
    is_judged=True,
    lists=[
        later("baseline", "list", 0.4),
        later("prefixes", "published", 0.8),
        later("prefixes", "paper", 0.5),
        later("prefixes", "published", 0.1, label="news"),
    ],
    reach=[
        reached(1, 60, 20),
        reached(2, 80, 30),
        reached(3, 90, None),
        reached(2, 10, 99, horizon_days=7),
        reached(2, 10, 99, trial="in_sample", horizon_days=0),
    ],
    timely=[
        {**CRAWL, "strategy": "ours"},
        {
            **CRAWL,
            "strategy": "baseline",
            "remaining": 0.2,
            "remaining_low": 0.1,
            "remaining_high": 0.3,
            "temporal_fetched": 0.26,
        },
    ],
)


def figures(found: Front) -> dict[str, tuple[str, str, str]]:
    (block,) = (block for block in front(found).blocks if isinstance(block, Figures))
    return {figure.name: (figure.value, figure.note, figure.tone) for figure in block.figures}


def test_key_figures_stand_beside_what_they_are_compared_with() -> None:
    actual = figures(FRONT)
    assert actual["Right pages in the list (F)"] == (
        *("0.80", "0.70 to 0.90; ahead, list in use 0.40 (0.30 to 0.50)", "good"),
    )
    assert actual["Interest left at fetch"] == (
        *("90.0%", "80.0% to 95.0%; list in use 20.0% (10.0% to 30.0%)", "good"),
    )
    # A short delay of the few pages that were fetched at all is no quick crawler.
    assert actual["Delay to the first fetch"][:2] == (
        "30 min",
        "median, 15 min to 3.0 h, 97.0% of temporal pages fetched; list in use 30 min"
        " (15 min to 3.0 h), 26.0% fetched",
    )
    assert actual["Days of data"][:2] == ("58 of 60", "2 missing; 1.3% of the lines rejected")
    assert actual["Checks that pass"] == ("all", "none is broken, and none warns", "good")
    # As many hubs as the list in use has fronts, on the longest horizon.
    assert actual["New pages that hubs show"] == (
        "80.0%",
        "71.1% to 86.7% of new temporal pages are linked by 2 hubs, +5 pages (-2 to +12) beside the"
        " better simple order: level; by as many of the list in use 30.0% (21.9% to 39.6%)",
        "good",
    )
    behind = replace(FRONT, reach=[reached(2, 80, 30, lead=-5, lead_low=-9.0, lead_high=-1.0)])
    assert figures(behind)["New pages that hubs show"][2] == "bad"
    majority = {"best_baseline": "majority", "f_lead_low": -0.2, "f_lead_high": -0.1}
    beaten = [later("prefixes", "published", 0.8) | majority, later("baseline", "majority", 0.9)]
    assert figures(replace(FRONT, lists=beaten))["Right pages in the list (F)"] == (
        *("0.80", "0.70 to 0.90; behind, majority of the top folder 0.90 (0.80 to 1.00)", "bad"),
    )


def test_what_is_wrong_is_said_first() -> None:
    broken = replace(FRONT, failed=["requests: rejected_share"])
    assert figures(broken)["Checks broken"][2] == "bad"
    assert front(broken).says[0].count("do not trust it: 1 check broken.")
    worse = replace(FRONT, lists=[later("baseline", "list", 0.9, f_gain_high=-0.1)])
    assert figures(worse)["Right pages in the list (F)"][0] == "–"


def test_small_logs_are_told_what_they_are_worth_and_what_to_do() -> None:
    assert len(front(FRONT).says) == 1
    thin = replace(FRONT, opened=759, labelled=5, lists=[], reach=[], days_to_judge=3)
    _, caution = front(thin).says
    assert "5 of 759 pages had views enough" in caution
    assert "`window.min_views_per_day`" in caution
    assert "none of 759 pages had views enough" in front(replace(thin, labelled=0)).says[1]
    young = replace(thin, traffic=days(20, views=9, pages=4), missing=40, rejected=None)
    assert figures(young)["Days of data"][1] == "40 before the first log"
    # A command that cannot help is not named.
    waiting = "judged on pages born later: in 3 more days of logs"
    assert figures(thin)["Right pages in the list (F)"] == ("–", waiting, "plain")
    assert figures(thin)["New pages that hubs show"] == ("–", waiting, "plain")


def test_two_crawls_are_not_told_apart_by_a_handful_of_pages() -> None:
    few = [{**row, "temporal": 2, "median_delay_hours": None} for row in FRONT.timely]
    found = figures(replace(FRONT, timely=few))
    assert found["Interest left at fetch"] == (
        "90.0%",
        "80.0% to 95.0%, with 2 temporal pages born: too few to compare; list in use 20.0%"
        " (10.0% to 30.0%)",
        "plain",
    )
    assert found["Delay to the first fetch"][1] == "2 temporal pages born, and none fetched"


def test_without_anything_it_says_what_is_missing() -> None:
    nothing = replace(
        FRONT, traffic=[], births=[], entries=[], budget=[], watched=[], hubs=[], changes=[],
        compared=None, lists=[], reach=[], timely=[], is_judged=False, rejected=None, missing=60,
    )  # fmt: skip
    actual = figures(nothing)
    assert {value for value, _, _ in actual.values()} == {"–", "0 of 60"}
    assert "`temporal-assets report`" in actual["Right pages in the list (F)"][1]
    assert page(Report(DAY, "Report", (), (front(nothing),)))


def test_lists_are_compared_with_those_in_use_on_the_longest_horizon() -> None:
    forests = [block for block in front(FRONT).blocks if isinstance(block, Forest)]
    trusted = next(forest for forest in forests if "trusted" in forest.title)
    assert [row.name for row in trusted.rows] == ["prefixes, as published", "list in use"]


def test_traffic_is_drawn_over_dates() -> None:
    charts = [block for block in front(FRONT).blocks if isinstance(block, Chart)]
    assert {chart.x.kind for chart in charts} == {"date"}
    html = page(Report(DAY, "Report", (), (front(FRONT),)))
    assert ">31 Jan</text>" in html
    assert re.findall(r"<th[^>]*></th>", html) == []  # the numbers' column of days has a name


def test_it_comes_first_is_kept_as_it_is_and_holds_no_markup_of_strangers() -> None:
    section = front(FRONT)
    kept = section_of(section_content(section))
    assert section_of(section_content(kept)) == kept
    html = page(Report(DAY, "Report", (("Sites", "3"),), (section,)))
    assert "<script>document" not in html
    assert html.index('id="front"') < html.index("The data") < html.index("Contents")


def test_what_crawls_found_is_shown_where_results_are_known() -> None:
    assert "What crawls found" not in page(Report(DAY, "Report", (), (front(FRONT),)))
    row = {"kind": "feed", "sources": 3, "visits": 1200, "unchanged": 900, "failures": 7}
    crawled = [row | {"gone": 2, "pages": 80, "temporal_pages": 61}]
    best = [{"url": "https://a.example/rss", "pages": 50, "temporal_pages": 41}]
    actual = page(
        Report(DAY, "Report", (), (front(replace(FRONT, crawled=crawled, best_source=best)),))
    )
    for message in ("What crawls found", "1,200", "a.example/rss", "41 of 50 pages", "policy: 2"):
        assert message in actual
