"""Charts: days, thresholds, intervals, icicles, distributions, heat maps and single pages."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from math import hypot

import duckdb
import numpy as np
import pytest

from temporal_assets.core.curves.daily_curve import expected_views
from temporal_assets.core.curves.lognormal import accumulated, density
from temporal_assets.reports import distribution, html_page
from temporal_assets.reports.charts.picture import as_png
from temporal_assets.reports.charts.svg_chart import HEIGHT, WIDTH, chart, legend, legend_svg
from temporal_assets.reports.charts.svg_forest import forest
from temporal_assets.reports.charts.svg_icicle import icicle
from temporal_assets.reports.charts.svg_map import graph, heat_map
from temporal_assets.reports.distribution import Distribution, as_text, interest_chart
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
from temporal_assets.reports.heat_map import HeatMap, as_block
from temporal_assets.reports.heat_map import as_text as heat_map_text
from temporal_assets.reports.page_chart import PageChart, as_chart, chart_of
from temporal_assets.reports.page_chart import as_text as page_chart_text
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


def rows(query: str, table: str, values: str) -> list[dict[str, int]]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {values}")  # noqa: S608
        actual = connection.sql(query)
        return [dict(zip(actual.columns, row, strict=True)) for row in actual.fetchall()]


def test_interest_has_twenty_bars_and_leaves_out_what_is_unknown() -> None:
    values = "(VALUES (0.0), (0.049), (0.05), (0.95), (1.0), (NULL)) AS v(phi_1)"
    interest = distribution.of_interest(rows(distribution.INTEREST, "interest_curves", values))
    assert len(interest.starts) == 20
    assert (interest.starts[1], interest.starts[-1]) == (0.05, 0.95)
    assert interest.pages == (2, 1, *[0] * 16, 0, 2)
    assert interest.total == 5


def test_concentration_goes_to_its_highest_bar() -> None:
    values = "(VALUES (0.9, true), (1.0, true), (3.2, true), (9.0, false)) AS v(concentration, d)"
    named = values.replace(", d)", ", has_concentration)")
    concentration = distribution.of_concentration(
        rows(distribution.CONCENTRATION, "page_labels", named)
    )
    assert (concentration.starts, concentration.pages) == ((0.0, 1.0, 2.0, 3.0), (1, 1, 0, 1))


def test_a_bar_is_as_long_as_its_pages() -> None:
    bars = Distribution("pages", (0.0, 0.5, 1.0), (1, 0, 2))
    half, whole = "█" * 25, "█" * 50
    assert as_text(bars) == [
        "pages: 3 pages",
        f"     0 │{half} 1",
        "   0.5 │",
        f"     1 │{whole} 2",
    ]
    assert as_png([interest_chart(bars, "Some pages")]).startswith(b"\x89PNG\r\n")


def test_nothing_is_a_distribution_too() -> None:
    assert distribution.of_interest([]).total == 0
    assert as_text(distribution.of_concentration([])) == [
        "pages by the concentration of their views: 0 pages"
    ]


HEAT = HeatMap(
    title="Φ(n) > q",
    days=(1.0, 3.0),
    thresholds=[0.1, 0.2, 0.3],
    values=np.array([[0, 10, 20], [50, 40, 30]]),
    best=(3.0, 0.1),
    used=(3.0, 0.2),
    now=(1.0, 0.3),
    names=("n", "q"),
)


def test_better_cells_are_darker_and_marks_stand_on_theirs() -> None:
    lines = heat_map_text(HEAT)
    assert lines[0] == "     n │ q from 0.1 on"
    assert lines[1] == "     1 │ ░s│ 20"
    assert lines[2] == "     3 │BU▓│ 50"
    assert lines[4].endswith("0 (blank) to 50 (█); on the right the best of the row")


def test_a_fine_grid_is_thinned_but_keeps_what_is_marked() -> None:
    levels = [k / 1000 for k in range(1, 1000)]
    fine = replace(HEAT, thresholds=levels, values=np.zeros((2, 999)), best=(3.0, 0.777))
    fine = replace(fine, used=None, now=(1.0, 0.123))
    first, second = heat_map_text(fine)[1:3]
    assert len(first) < 60
    assert (first.count("s"), second.count("B")) == (1, 1)


def test_a_map_is_drawn_with_and_without_marks() -> None:
    block = as_block(HEAT, "Right by thresholds")
    assert block.marks == ((0, 2, "settings"), (1, 1, "used"), (1, 0, "best"))
    svg = heat_map(block, "h")
    # The scale from the worst to the best cell, and what the marks mean.
    assert ">0</text>" in svg
    assert ">50</text>" in svg
    for what in ("settings", "used", "best"):
        assert f"> {what}</text>" in svg
    assert "> used<" not in heat_map(as_block(replace(HEAT, used=None), "t"), "h")


def test_nothing_on_a_page_is_markup_from_outside() -> None:
    evil = "<script>alert(1)</script>\u202e&"
    page = html_page.page(
        evil,
        [
            html_page.heading(evil),
            html_page.paragraph(evil),
            html_page.table([evil], [[evil], [1234567]]),
            html_page.figure(
                Chart(
                    evil, evil, Axis(evil), Axis(evil), (Series(evil, "dots", 0, (1.0,), (1.0,)),)
                )
            ),
        ],
    )
    assert "<script" not in page
    assert "\u202e" not in page
    assert 'onload="x' not in page
    assert page.count("&lt;script&gt;") == 11
    assert "<td>1,234,567</td>" in page
    assert "default-src 'none'" in page


def test_a_column_of_numbers_shares_or_intervals_stands_on_the_right_beneath_its_name() -> None:
    rows = [("sites", "27.5%", "-0.10 to +0.25", None), ("pages", "3%", None, 7)]
    table = html_page.table(("list", "right", "95 %", "pages"), rows)
    assert '<th class="text">list</th><th>right</th><th>95 %</th><th>pages</th>' in table
    assert '<td class="text">sites</td><td>27.5%</td><td>-0.10 to +0.25</td><td></td>' in table
    assert table.startswith('<div class="wide" tabindex="0"><table>')


def test_what_is_to_be_typed_is_code_on_a_page() -> None:
    assert html_page.paragraph("`a.b` is <0") == "<p><code>a.b</code> is &lt;0</p>"


CHART = PageChart(
    first=dt.date(2026, 3, 1),
    views=[0, 10, 5, 0],
    observed=[True, True, True, False],
    expected=None,
    b=None,
    n=3.0,
    phi_n=None,
    title="a.example, $x$",
)


def test_bars_stand_on_their_days() -> None:
    assert page_chart_text(CHART) == [
        "      10 │ █",
        *["         │ █"] * 4,
        *["         │ ██"] * 5,
        "       0 └───x",
        f"{'':10}2026-03-01 2026-03-04",
    ]


def test_the_curve_is_a_dot_at_its_height() -> None:
    lines = page_chart_text(replace(CHART, expected=[0.0, 20.0, 10.0, 0.02]))
    assert lines[0] == "      20 │ •"
    assert [line[10:] for line in lines[4:6]] == ["  •", " █"]
    assert lines[9] == "         │ ██"


def test_a_page_is_drawn_over_dates_with_what_is_not_there() -> None:
    chart = as_chart(CHART, "https://a.example/1")
    assert (chart.title, chart.x.kind) == ("https://a.example/1", "date")
    assert [series_part.name for series_part in chart.series] == ["views a day", "no data"]
    first = dt.date(2026, 3, 1).toordinal()
    assert chart.series[0].x == tuple(first + n for n in range(4))
    assert chart.series[1].x == (first + 3.0,)


def test_the_area_is_the_first_days_and_no_curve_is_clipped() -> None:
    row = {"day": dt.date(2026, 3, 4), "views": [0, 10, 5, 0], "is_converged": True}
    curve = {"amplitude": 20.0, "b": 1.5, "mu": 0.0, "sigma": 0.5}
    fitted = chart_of(row | curve | {"method": "likelihood", "phi_n": 0.9}, 1.0, [], "")
    chart = as_chart(fitted)
    line = next(series_part for series_part in chart.series if series_part.mark == "line")
    area = next(series_part for series_part in chart.series if series_part.mark == "area")
    first = dt.date(2026, 3, 1).toordinal()
    assert first + 1.9 < max(area.x) <= first + 2.0 < max(line.x)
    assert chart.y.high is None  # the axis reaches as high as the curve


def test_a_row_becomes_a_chart() -> None:
    row = {"day": dt.date(2026, 3, 4), "views": [0, 10, 5, 0], "is_converged": False}
    row |= {"b": None, "phi_n": None}
    assert chart_of(row, 3.0, ["2026-03-04"], CHART.title) == CHART
    curve = {"amplitude": 20.0, "b": 1.5, "mu": 0.0, "sigma": 0.5}
    curve |= {"is_converged": True, "method": "likelihood", "phi_n": 0.98}
    fitted = chart_of(row | curve, 3.0, [], "")
    assert fitted.expected is not None
    assert fitted.expected[0] == 0.0
    assert 15 < sum(fitted.expected) < 20
    assert fitted.curve is not None
    times, heights = (np.array(part) for part in fitted.curve)
    assert (times[0], times[-1]) == (1.0, 4)
    # The interest of the day around each time, as bars count days.
    near = 20 * float(accumulated(1.5, 0.0, 0.5) - accumulated(0.5, 0.0, 0.5))
    assert heights[np.abs(times - 2.5).argmin()] == pytest.approx(near, rel=0.02)
    assert as_chart(fitted) != as_chart(replace(fitted, n=1.0))


def test_a_day_is_expected_the_mass_of_the_curve_or_its_height() -> None:
    mass = expected_views(5, 100.0, 1.25, 0.4, 0.9, "likelihood")
    assert mass[0] == 0.0
    assert mass.sum() == pytest.approx(100 * float(accumulated(3.75, 0.4, 0.9)))
    dots = expected_views(5, 100.0, 1.25, 0.4, 0.9, "least_squares")
    ages = np.array([0.75, 1.75, 2.75, 3.75])
    assert dots[1:] == pytest.approx(100 * density(ages, 0.4, 0.9))
