"""The report as data, and as a page: nothing is lost on the way, nothing from a log is markup."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from importlib.resources import files

import jsonschema
import pytest

from temporal_assets.reports.charts.svg_map import heat_map
from temporal_assets.reports.document import (
    Axis,
    Column,
    HeatMap,
    Report,
    Section,
    Table,
    as_json,
    section_content,
    section_of,
)
from temporal_assets.reports.report_page import block, page, written
from tests.reports import report


def test_what_is_written_is_read_again() -> None:
    for section in report("plain").sections:
        assert section_of(json.loads(json.dumps(section_content(section)))) == section


def test_the_json_is_what_its_schema_says() -> None:
    schema = files("temporal_assets.reports").joinpath("report.schema.json").read_text("utf-8")
    jsonschema.validate(json.loads(as_json(report())), json.loads(schema))


def test_numbers_are_short_and_always_numbers() -> None:
    table = Table("t", (Column("x", "number"),), ((1 / 3,), (math.nan,), (7,), (True,)))
    section = Section("a", "p", "", "t", "in_sample", ("s",), (table,))
    content = section_content(section)
    assert content["blocks"][0]["rows"] == [[0.333333], [None], [7], [True]]
    text = as_json(Report(dt.date(2026, 1, 31), "t", (("Sites", "3"),), (section,)))
    assert "NaN" not in text
    assert json.loads(text)["data"] == {"Sites": "3"}


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "count", "–"),
        (True, "text", "yes"),
        (1234567, "count", "1,234,567"),
        (0.545, "share", "54.5%"),
        (-0.0002, "share", "0.0%"),
        (-0.1, "share", "-10.0%"),
        (0.26892, "number", "0.269"),
        (0.6, "score", "0.600"),
        (9.1123, "number", "9.112"),
        ("a", "text", "a"),
    ],
)
def test_cells_are_written_for_people(value: object, kind: str, text: str) -> None:
    assert written(value, kind) == text  # type: ignore[arg-type]


def test_nothing_from_a_log_is_markup() -> None:
    html = page(report())
    assert html.count("<script>") == html.count("</script>") == 1
    assert "harm&#x27;&lt;/script&gt;" in html
    assert "\u202e" not in html
    assert "\\u202e" in html
    assert " onload=alert" in html  # as text
    assert "<a href=" in html
    assert "https://a.example" in html
    assert 'href="https' not in html


def test_the_page_needs_nothing_else() -> None:
    html = page(report("plain"))
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src' in html
    for outside in ("src=", "@import", "url(", 'href="http', " style=", " onclick="):
        assert outside not in html


def test_a_section_that_is_missing_says_what_to_do() -> None:
    html = page(report("data"))
    assert "Not available: no data. To get it: run <code>this</code>." in html


def test_the_same_report_is_the_same_page() -> None:
    assert page(report()) == page(report())
    assert as_json(report()) == as_json(report())


def test_pictures_have_names_and_numbers_behind_them() -> None:
    html = page(report("plain"))
    assert html.count('role="img"') == html.count("<figcaption>") == 4
    assert html.count('<summary>Numbers<span class="aside">: plain</span></summary>') == 4
    assert html.count("<title ") == html.count("<desc ") == 4
    assert '<html lang="en">' in html
    assert '<a class="skip" href="#content">' in html


def test_marks_of_one_cell_of_a_heat_map_can_all_be_read() -> None:
    axes = Axis("n", ticks=("1",)), Axis("q", ticks=("0.5", "0.7"))
    marks = ((0, 1, "settings"), (0, 1, "used"), (0, 0, "best"))
    drawn = heat_map(HeatMap("t", "s", *axes, ((1.0, 2.0),), marks), "h")
    assert re.findall(r'class="mark"[^>]*>(\w+)<', drawn) == ["su", "b"]


def test_numbers_of_a_column_have_the_same_digits_and_an_empty_table_says_so() -> None:
    columns = (Column("hub"), Column("new", "number"))
    drawn = block(Table("Hubs", columns, (("a", 0.44), ("b", 1.2345), ("c", 0.0291))), "n")
    assert [part.partition("<")[0] for part in drawn.split('<td class="n">')[1:]] == [
        *("0.44", "1.23", "0.03")
    ]
    empty = block(Table("Changed", columns, (), note="There is no earlier list."), "n")
    assert "<thead>" not in empty
    assert "There is no earlier list." in empty
