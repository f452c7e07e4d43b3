"""Scores for many numbers of days, against the functions for one; and the section of a page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic import draw
from temporal_assets.core.curves.curves import Options, fit
from temporal_assets.core.labels.concentration import concentration
from temporal_assets.core.labels.score_grid import FittedCurves, concentrations, interest
from temporal_assets.core.text.page_section import section_of, sections_of
from temporal_assets.core.text.texts import texts

PIECES = (
    *("http", "https://", "http://", "://", "s", "a.example", "/", "//", "?", "x", "\u00e9", "\n"),
    *("y" * 199, "y" * 200, "\u00e9" * 200, "\u00e9" * 201),
)


def test_interest_is_that_of_the_fitter_at_every_n() -> None:
    views = draw(150, 30, seed=3).views
    fitted = fit(views, Options(n=3.0))
    curves = FittedCurves(fitted.mu, fitted.sigma, np.zeros(len(views), np.bool_))
    table = interest(curves, (1.0, 3.0))
    np.testing.assert_allclose(table[:, 0], fitted.phi_1, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table[:, 1], fitted.phi_n, rtol=1e-9, atol=1e-12)


def test_a_page_without_a_curve_is_never_temporal_unless_all_views_are_on_one_day() -> None:
    nothing = np.full(2, np.nan)
    curves = FittedCurves(nothing, nothing, np.array([False, True]))
    assert interest(curves, (1.0, 3.0)).tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_concentrations_are_those_of_one_m_and_0_where_undefined() -> None:
    views = np.array([[6, 2, 1, 1], [0, 0, 0, 9]])
    # 6 of 10 views on 1 of 4 days; 8 of 10 on 2. The second page was seen for a day only.
    assert concentrations(views, (1, 2)) == pytest.approx(np.array([[2.4, 1.6], [0, 0]]))
    observed = np.array([True, False, True, True])
    alone = concentration(views, 2, observed=observed)
    assert concentrations(views, (2,), observed=observed)[0, 0] == alone.value[0]


@pytest.mark.parametrize(
    ("url", "section"),
    [
        ("https://a.example/news/2025/1.html", "a.example/news/"),
        ("https://a.example/news/", "a.example/news/"),
        ("https://a.example/1.html", "a.example/"),
        ("https://a.example/", "a.example/"),
        ("https://a.example/news.php?id=1/2", "a.example/news.php?"),
        ("https://a.example/x/news.php?id=1&u=?", "a.example/x/news.php?"),
        ("http://a.example:8080/x/y", "a.example:8080/x/"),
        ("https://a.example/x/" + "y" * 300 + "?z", "a.example/x/"),
        ("https://a.example/" + "y" * 300 + "/z", "a.example/"),
        ("nonsense", ""),
    ],
)
def test_a_page_has_one_section(url: str, section: str) -> None:
    assert section_of(url) == section


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=20))
def test_sections_of_many_pages_are_those_of_each(urls: list[str]) -> None:
    sections = sections_of(texts(urls))
    assert [sections[i] for i in range(len(urls))] == [section_of(url) for url in urls]
