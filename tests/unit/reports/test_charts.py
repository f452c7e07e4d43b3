"""Charts: what stands where, on which scale, and what is not cut off."""

from __future__ import annotations

import datetime as dt
import re
from math import hypot

from temporal_assets.reports.charts.svg_chart import HEIGHT, WIDTH, chart, legend, legend_svg
from temporal_assets.reports.charts.svg_forest import forest
from temporal_assets.reports.charts.svg_icicle import icicle
from temporal_assets.reports.charts.svg_map import graph
from temporal_assets.reports.document import (
    Axis,
    Chart,
    Forest,
    Graph,
    Interval,
    Node,
    Series,
    Threshold,
)
from temporal_assets.reports.prefix_tree import Section
from temporal_assets.reports.sections.lists import precision_recall_chart
from tests.unit.reports.test_sections import judged

DAY = dt.date(2026, 1, 31).toordinal()


def ticks(svg: str) -> list[str]:
    return re.findall(r'class="tick[^"]*"[^>]*>([^<]*)<', svg)


def test_days_are_written_as_dates_and_the_last_one_always() -> None:
    days = tuple(float(DAY - n) for n in range(59, -1, -1))
    svg = chart(
        Chart("t", "s", Axis("", "date"), Axis("views", "count", 0.0),
              (Series("views", "line", 0, days, (5.0,) * 60),)),
        "n",
    )  # fmt: skip
    assert [tick for tick in ticks(svg) if not tick.isdigit()][-1] == "31 Jan"
    assert f'viewBox="0 0 {WIDTH} {HEIGHT - 22}"' in svg  # no room for a name that is not there


def test_bars_by_day_end_with_their_last_day_although_a_curve_goes_on_to_its_evening() -> None:
    days = tuple(float(DAY + n) for n in range(60))
    bars = Series("views", "bars", 5, days, (1.0,) * 60)
    curve = Series("curve", "line", 1, (DAY - 0.5, DAY + 59.5), (0.0, 1.0))
    axis = Axis("", "date", DAY - 0.5, DAY + 59.5)
    drawn = chart(Chart("t", "", axis, Axis("", "count", 0.0), (bars, curve)), "n")
    last = dt.date.fromordinal(DAY + 59)
    assert f">{last.day} {last:%b}<" in drawn
    after = last + dt.timedelta(1)
    assert f">{after.day} {after:%b}<" not in drawn


def test_a_missing_day_breaks_the_line() -> None:
    days = (1.0, 2.0, 3.0, 6.0, 7.0)
    series = (Series("views", "line", 0, tuple(DAY + day for day in days), (5.0,) * 5),)
    svg = chart(Chart("t", "s", Axis("", "date"), Axis("views", "count", 0.0), series), "n")
    (path,) = re.findall(r'class="line c0" d="([^"]*)"', svg)
    assert path.count("M") == 2


def test_things_are_counted_in_whole_numbers() -> None:
    series = (Series("pages", "bars", 0, (0.0, 1.0), (1.0, 2.0)),)
    svg = chart(Chart("t", "s", Axis("x"), Axis("pages", "count", 0.0), series), "n")
    assert not [tick for tick in ticks(svg) if "." in tick and tick.startswith(("1.", "0."))][5:]
    assert {"0", "1", "2"} <= set(ticks(svg))


def test_a_threshold_is_drawn_with_its_name() -> None:
    series = (Series("pages", "bars", 0, (0.0, 1.0, 2.0, 3.0), (1.0, 2.0, 1.0, 0.0)),)
    one = Chart("t", "s", Axis("c", low=0.0, high=4.0), Axis("pages"), series)
    svg = chart(
        Chart(
            one.title, one.shows, one.x, one.y, series, thresholds=(Threshold(1.91, "p = 1.91"),)
        ),
        "n",
    )
    assert 'class="threshold"' in svg
    assert ">p = 1.91</text>" in svg


def test_the_list_in_use_stands_before_the_curves_and_empty_lists_nowhere() -> None:
    rows = [
        judged("baseline", "list", 50, 100),
        judged("sites", "paper", 60, 90),
        {**judged("sites", "paper", 1, 1), "pages": 0, "recall": 0.0, "precision": 0.0,
         "setting": 0.0},
        {**judged("sites", "paper", 20, 30), "setting": 5.0, "is_used": False},
    ]  # fmt: skip
    one = precision_recall_chart(rows)
    assert [series.name for series in one.series if series.mark == "diamonds"] == ["list in use"]
    assert all(0.0 not in series.x for series in one.series)
    svg = chart(one, "n")
    assert svg.rindex("diamond") > svg.rindex('class="line')
    assert "list in use" in legend(one.series)
    assert "list in use" in legend_svg(one.series)[0]


def test_intervals_stand_below_whole_names_and_beside_their_numbers() -> None:
    rows = (Interval("policy, fetched now", 0.8, 0.7, 0.9, 1), Interval("list", 0.4, 0.2, 0.5, 5))
    svg = forest(Forest("t", "s", Axis("F", "score", 0.0, 1.0), rows), "n")
    assert "policy, fetched now</text>" in svg
    assert ">0.80 (0.70 to 0.90)</text>" in svg
    low, high = re.findall(r'd="M([\d.]+) 26v8m0 -4H([\d.]+)', svg)[0]
    assert (float(low), float(high)) == (332.0, 424.0)


def test_arrows_end_at_nodes_and_no_name_is_cut() -> None:
    name = "/news/{year}/{month}/{day}/{word}-{word}-{digits}/{word}/index.html?page={digits}"
    nodes = (Node(name, 900.0, 0.9), Node("b", 1.0, None), Node("c", 50.0, 0.1))
    svg = graph(Graph("t", "s", nodes, ((0, 1, 5.0), (1, 2, 1.0), (2, 0, 9.0))), "n")
    matches = re.findall(r'class="node [^"]*" cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)
    circles = [tuple(map(float, match)) for match in matches][:3]
    tips = [
        tuple(map(float, one)) for one in re.findall(r'class="head" d="M([\d.]+) ([\d.]+)L', svg)
    ]
    assert len(tips) == 3
    for x, y in tips:
        assert min(abs(hypot(x - cx, y - cy) - r) for cx, cy, r in circles) < 1.5
    written = "".join(re.findall(r'class="label" x="46"[^>]*>([^<]*)<', svg))
    assert name in written


def test_a_long_name_is_cut_only_where_there_is_no_room_for_it() -> None:
    long, longer = "news.example/" + "a" * 30, "news.example/" + "a" * 90
    rows = tuple(Interval(name, 0.5, 0.25, 0.75, 1) for name in (long, longer))
    svg = forest(Forest("t", "s", Axis("F", "score", 0.0, 1.0), rows), "n")
    wide = re.findall(r'class="label wide"[^>]*>([^<]*)<', svg)
    narrow = re.findall(r'class="label narrow"[^>]*>([^<]*)<', svg)
    assert wide[0] == long
    assert all(one.endswith("…") for one in (wide[1], *narrow))
    assert len(narrow[0]) < len(long)


def test_dashes_on_an_equal_line_are_seen() -> None:
    x = (0.0, 1.0)
    equal = (Series("dashed", "dashes", 1, x, x), Series("whole", "line", 2, x, x))
    axis = Axis("share", "share", 0.0, 1.0)
    svg = chart(Chart("t", "s", axis, axis, equal), "n")
    assert svg.index('class="line c2"') < svg.index('class="line c1 dashes"')


def test_dashes_named_after_a_line_need_no_place_in_the_legend() -> None:
    x = (0.0, 1.0)
    drawn = [
        Series("ours", "line", 1, x, x),
        Series("ours, two hops", "dashes", 1, x, x),
        Series("sites (TW 4.3)", "dashes", 3, x, x),
        Series("list in use", "diamonds", 5, (0.5,), (0.5,)),
        Series("everything", "dots", 7, (0.5,), (0.5,)),
    ]
    names = re.findall(r"</svg>([^<]*)</li>", legend(drawn))
    assert names == ["ours", "sites (TW 4.3)", "list in use", "everything"]


def test_a_block_of_an_icicle_leads_to_its_whole_link_whatever_its_length() -> None:
    folder = Section("a/", "h.example/" + "a" * 400 + "/", 2, 1, 1, False, (), 0)
    root = Section("h.example/", "h.example/", 2, 1, 1, False, (folder,), 0)
    svg = icicle(root, lambda one: f"/site?prefix={one.prefix}", "i")
    assert f'href="/site?prefix={folder.prefix}"' in svg
    assert 'role="group"' in svg
