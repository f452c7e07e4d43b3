"""Plots and texts in metadata: small, and harmless whatever a log says."""

from __future__ import annotations

import base64
import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.text.readable import readable
from temporal_assets.reports import plots
from temporal_assets.reports.charts.picture import as_png, as_svg
from temporal_assets.reports.document import Axis, Chart, Mark, Series
from temporal_assets.reports.plots import MAX_PNG_BYTES, as_markdown, bars, drawn
from temporal_assets.reports.text import shown
from tests.reports import EVIL

PNG = b"\x89PNG\r\n\x1a\n"


def size(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_a_plot_is_a_small_png() -> None:
    hours = bars("requests by hour", [f"{n:02}" for n in range(24)], list(range(24)), "hour", "n")
    png = as_png([hours])
    assert png.startswith(PNG)
    assert size(png)[0] == 504
    assert len(png) < MAX_PNG_BYTES / 3
    assert as_png([hours]) == png


@pytest.mark.parametrize("name", [EVIL, "a$_$b.example", "</text><script>", "x" * 500, ""])
def test_any_name_can_be_drawn(name: str) -> None:
    marks: tuple[Mark, ...] = ("line", "area", "dots", "diamonds", "bars")
    series = tuple(Series(name, mark, 0, (0.0, 1.0), (0.5, 1.0)) for mark in marks)
    axis = Axis(name, ticks=(name, name))
    block = Chart(name, "", axis, axis, series)
    assert as_png([block], name).startswith(PNG)
    assert "<script" not in as_svg([block], name)


def test_a_picture_has_colours_of_its_own_and_reads_nothing_from_elsewhere() -> None:
    svg = as_svg([bars("t", ["a"], [1], "x", "y")], "title")
    assert "var(--" not in svg
    assert "@media" not in svg
    assert "href" not in svg


def luminance(colour: str) -> float:
    """Return the luminance of `#rrggbb`, as contrasts are reckoned."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_picture_for_dagster_is_no_white_block_and_reads_on_white_and_on_black() -> None:
    svg = as_svg([bars("t", ["a"], [1], "x", "y")], "title", is_clear=True)
    assert ".ground { fill: none; }" in svg
    (letters,) = set(re.findall(r"\.plot \.(?:label|title|heading) { fill: (#\w{6});", svg))
    light = luminance(letters) + 0.05
    assert 1.05 / light > 4
    assert light / 0.05 > 4


def test_a_picture_that_weighs_too_much_is_drawn_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    block = bars("t", [str(n) for n in range(8)], list(range(8)), "x", "y")
    whole = len(as_png([block], is_clear=True))
    monkeypatch.setattr(plots, "MAX_PNG_BYTES", whole - 1)
    text = drawn(block)
    png = base64.b64decode(text.removesuffix(")").split(",")[1])
    assert size(png)[0] == 378


def test_nothing_can_be_plotted() -> None:
    assert as_png([bars("nothing", [], [], "x", "y")]).startswith(PNG)


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


@given(st.text())
def test_no_text_breaks_the_line_or_hides(text: str) -> None:
    assert shown(text).isprintable() or not text


def test_letters_of_urls_are_read_and_codes_that_mean_something_stay() -> None:
    assert (
        readable("https://a.example/wiki/%E5%8E%86%E5%8F%B2_1") == "https://a.example/wiki/历史_1"
    )
    for url in ("https://a.example/%2F%3Cscript%3E", "https://a.example/%FF", "/%E2%80%AE"):
        assert readable(url) == url
