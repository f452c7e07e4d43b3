"""The report as data, and as a page: nothing is lost on the way, nothing from a log is markup."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest

from temporal_assets.reports.document import (
    Axis,
    Branch,
    Chart,
    Column,
    Graph,
    HeatMap,
    Node,
    Report,
    Section,
    Series,
    Table,
    Tree,
    as_json,
    section_content,
    section_of,
    unavailable,
)
from temporal_assets.reports.report_page import page, written

EVIL = "https://a.example/<script>document.title='harm'</script>\"' onload=alert(1) x=\u202e"


def report(name: str = EVIL) -> Report:
    leaf = Branch("x", "x", 1, 1, 0, False, (), 2)
    lines = (
        Series(name, "line", 0, (0.0, 1.0), (0.25, 0.75)),
        Series("bars", "bars", 1, (0.0, 1.0), (0.5, 1.0)),
    )
    cells = Axis(name, ticks=(name,)), Axis("q", ticks=("1", "2"))
    share = Axis(name, "share", 0.0, 1.0)
    columns = (Column(name), Column("pages", "count"))
    blocks = (
        Table(f"of {name}", columns, ((name, 1234), ("b", None)), 1),
        Chart(name, name, Axis(name, ticks=(name, "b")), share, lines, has_diagonal=True),
        HeatMap(name, name, *cells, ((1.0, 2.0),), ((0, 1, name),)),
        Graph(name, name, (Node(name, 5.0, 0.9), Node("b", 1.0, None)), ((0, 1, 3.0),)),
        Tree(name, (Branch(name, name, 3, 2, 1, True, (leaf,), 0),)),
    )
    says = (f"Said of {name}.",)
    one = Section("one", "Part", "TW Table 1", name, "in_sample", says, blocks, name)
    off = unavailable("two", "Part", "BB Table 4", name, f"no {name}", "run `this`")
    return Report(dt.date(2026, 1, 31), f"Report {name}", ((name, name),), (one, off))


def test_what_is_written_is_read_again() -> None:
    for section in report("plain").sections:
        assert section_of(json.loads(json.dumps(section_content(section)))) == section


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
        (0.26892, "number", "0.269"),
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
    assert html.count('role="img"') == html.count("<figcaption>") == 3
    assert html.count("<summary>Numbers: plain</summary>") == 3
    assert html.count("<title ") == html.count("<desc ") == 3
    assert '<html lang="en">' in html
    assert '<a class="skip" href="#content">' in html
