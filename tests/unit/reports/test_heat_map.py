"""Heat maps and pages: what stands where, and that nothing on a page is markup from outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from temporal_assets.reports import html_page
from temporal_assets.reports.charts.svg_map import heat_map
from temporal_assets.reports.document import Axis, Chart, Series
from temporal_assets.reports.heat_map import HeatMap, as_block, as_text

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
    lines = as_text(HEAT)
    assert lines[0] == "     n │ q from 0.1 on"
    assert lines[1] == "     1 │ ░s│ 20"
    assert lines[2] == "     3 │BU▓│ 50"
    assert lines[4].endswith("0 (blank) to 50 (█); on the right the best of the row")


def test_a_fine_grid_is_thinned_but_keeps_what_is_marked() -> None:
    levels = [k / 1000 for k in range(1, 1000)]
    fine = replace(HEAT, thresholds=levels, values=np.zeros((2, 999)), best=(3.0, 0.777))
    fine = replace(fine, used=None, now=(1.0, 0.123))
    first, second = as_text(fine)[1:3]
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
