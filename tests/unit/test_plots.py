"""Plots and texts in metadata: small, and harmless whatever a log says."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.reports import preview
from temporal_assets.reports.document import Axis, Chart, Mark, Series
from temporal_assets.reports.plots import MAX_PNG_BYTES, as_markdown, bars
from temporal_assets.reports.text import markdown, shown

PNG = b"\x89PNG\r\n\x1a\n"


def size(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_a_plot_is_a_small_png() -> None:
    png = bars("requests by hour", [f"{n:02}" for n in range(24)], list(range(24)))
    assert png.startswith(PNG)
    assert size(png) == (600, 200)
    assert len(png) < MAX_PNG_BYTES


@pytest.mark.parametrize("name", ["a$_$b.example", r"a\$_$b$", "$"])
def test_what_stands_between_dollar_signs_is_no_formula(name: str) -> None:
    marks: tuple[Mark, ...] = ("line", "area", "dots", "bars")
    series = tuple(Series(name, mark, 0, (0.0, 1.0), (0.5, 1.0)) for mark in marks)
    axis = Axis(name, ticks=(name, name))
    assert preview.as_png(Chart(name, "", axis, axis, series)).startswith(PNG)


def test_nothing_can_be_plotted() -> None:
    assert bars("nothing", [], []).startswith(PNG)


def test_markdown_holds_the_image_itself() -> None:
    text = as_markdown(PNG, "a plot")
    assert text.startswith("![a plot](data:image/png;base64,")
    assert base64.b64decode(text.removesuffix(")").split(",")[1]) == PNG


def test_an_image_that_is_too_big_is_a_sentence() -> None:
    text = as_markdown(b"x" * (MAX_PNG_BYTES + 1), "a plot")
    assert text == "(a plot: 50001 bytes are too many to keep with the run)"


def test_text_is_one_printable_line() -> None:
    assert shown("a\nb\x1b[31m\u202ec") == "a\\nb\\x1b[31m\\u202ec"
    assert shown("x" * 400) == "x" * 300 + "…"


def test_markdown_is_shown_as_it_is() -> None:
    assert markdown("[x](javascript:1)") == "\\[x\\]\\(javascript\\:1\\)"
    assert markdown("<script>") == "&lt;script&gt;"


@given(st.text())
def test_no_text_breaks_the_line_or_hides(text: str) -> None:
    assert shown(text).isprintable() or not text
    assert "<" not in markdown(text)
