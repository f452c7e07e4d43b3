"""The fitter of interest curves: against the witness, on defined cases, and its invariants."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from benchmarks import synthetic
from temporal_assets.core.curves.curves import Curves, Options, Reason, fit
from temporal_assets.core.curves.lognormal import bounds, daily_mass, density
from tests.curve_witness import search

METHODS = ("least_squares", "likelihood")


def columns_of(curves: Curves) -> dict[str, np.ndarray]:
    columns = {field.name: getattr(curves, field.name) for field in dataclasses.fields(curves)}
    return {**columns, "converged": curves.converged}


DAYS = 60


def dots(a: float, b: float, mu: float, sigma: float, days: int = DAYS) -> np.ndarray:
    return a * density(np.arange(1, days + 1) - b, mu, sigma)


def masses(a: float, b: float, mu: float, sigma: float, days: int = DAYS) -> np.ndarray:
    """Daily mass of a page born inside the window, zero before its birth."""
    first = math.ceil(b)
    mass = daily_mass(first - b if first > b else 1.0, mu, sigma, days - first + 1)
    return a * np.concatenate([np.zeros(first - 1), mass])


_DIGITS = """
import dataclasses
import hashlib
from benchmarks import synthetic
from temporal_assets.core.curves.curves import Options, fit
views = synthetic.draw(500, 60, seed=3).views
digest = hashlib.sha256()
for method in ("least_squares", "likelihood"):
    curves = fit(views, Options(method=method))
    for field in dataclasses.fields(curves):
        digest.update(getattr(curves, field.name).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_process_that_compiles_tells_the_same_digits(tmp_path: Path) -> None:
    """A process that loads compiled loops fits the same bytes: histories are equal on every day."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _DIGITS],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("method", METHODS)
def test_an_exact_curve_is_recovered(method: str) -> None:
    make = dots if method == "least_squares" else masses
    page = make(1000.0, 10.3, 1.2, 0.8)
    curves = fit([page], Options(method=method))
    assert curves.birth[0] == 11
    assert curves.life[0] == 50
    assert curves.b[0] == pytest.approx(10.3, abs=0.01)
    assert curves.mu[0] == pytest.approx(1.2, abs=0.01)
    assert curves.sigma[0] == pytest.approx(0.8, abs=0.01)
    assert curves.amplitude[0] == pytest.approx(1000, rel=0.01)
    assert curves.goodness[0] > 0.9999
    # (ln 3 - 1.2) / 0.8 = -0.1267; the normal distribution there is 0.4496.
    assert curves.phi_n[0] == pytest.approx(0.4496, abs=0.005)
    # (ln 1 - 1.2) / 0.8 = -1.5; 0.0668.
    assert curves.phi_1[0] == pytest.approx(0.0668, abs=0.005)
    assert curves.converged[0]


@pytest.mark.parametrize("method", METHODS)
def test_the_objective_is_that_of_a_long_search(method: str) -> None:
    views = synthetic.draw(14, DAYS, seed=11).views.astype(float)
    curves = fit(views, Options(method=method))
    for page, (row, objective) in enumerate(zip(views, curves.objective, strict=True)):
        if curves.converged[page]:
            best = search(row, method, starts=16, seed=page)
            assert objective <= best.objective * 1.001 + 1e-9 * float(row @ row)
            assert (curves.phi_n[page] > 0.7) == (best.accumulated(3) > 0.7)


@pytest.mark.parametrize("method", METHODS)
def test_a_page_does_not_depend_on_its_neighbours(method: str) -> None:
    views = synthetic.draw(60, DAYS, seed=5).views
    options = Options(method=method)
    together = columns_of(fit(views, options))
    backwards = columns_of(fit(views[::-1], options, workers=1))
    alone = columns_of(fit(views[7:8], options))
    for name, column in together.items():
        np.testing.assert_array_equal(column, backwards[name][::-1], err_msg=name)
        assert column[7] == alone[name][0], name


@pytest.mark.parametrize("method", METHODS)
def test_integer_types_give_the_same_curves(method: str) -> None:
    views = synthetic.draw(20, DAYS, seed=6).views
    small = fit(views.astype(np.uint32), Options(method=method))
    large = fit(views.astype(np.float32), Options(method=method))
    np.testing.assert_array_equal(small.phi_n, large.phi_n)


def one(views: list[float], options: Options | None = None) -> Curves:
    return fit([views + [0.0] * (DAYS - len(views))], options)


@pytest.mark.parametrize("method", METHODS)
def test_all_views_on_one_day(method: str) -> None:
    curves = one([0, 0, 90], Options(method=method))
    assert curves.reason[0] == Reason.ONE_DAY
    assert not curves.converged[0]
    assert curves.birth[0] == 3
    assert curves.phi_1[0] == pytest.approx(1)
    assert curves.phi_n[0] == pytest.approx(1)
    # The rule of three: fewer than 3 of 90 views are still to come.
    assert curves.phi_low[0] == pytest.approx(1 - 3 / 90)
    assert curves.phi_high[0] == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", [0, 3])
def test_all_views_on_the_first_day_may_be_the_last_of_a_long_life(
    method: str, missing: int
) -> None:
    """Nobody knows what came before: one view more on another day says no less."""
    observed = np.arange(DAYS) >= missing
    page = np.zeros((2, DAYS))
    page[:, missing] = 90
    page[1, missing + 1] = 1
    curves = fit(page, Options(method=method), observed=observed)
    assert curves.reason[0] == Reason.ONE_DAY
    assert curves.reason[1] != Reason.ONE_DAY
    assert curves.phi_n.tolist() == pytest.approx([1, 1], abs=1e-3)
    assert curves.phi_low.tolist() == [0, 0]
    assert curves.phi_high.tolist() == pytest.approx([1, 1], abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_window_without_its_first_days_is_a_shorter_one(method: str) -> None:
    """Pages seen on the first day that is there may be older, whichever day of the window it is."""
    views = synthetic.draw(300, DAYS, seed=12).views
    missing = 20
    observed = np.arange(DAYS) >= missing
    kept = views[views[:, missing] > 0]
    assert len(kept) > 50
    long = fit(kept, Options(method=method), observed=observed)
    short = fit(kept[:, missing:], Options(method=method))
    assert (long.phi_low == 0).all()
    # The slowest curve of the longer window is slower; nothing else tells them apart.
    both = long.converged & short.converged & (short.mu < math.log(100))
    assert both.sum() > 20
    assert long.b[both].min() == pytest.approx(missing - 7)
    np.testing.assert_allclose(long.phi_n[both], short.phi_n[both], atol=0.02)


def test_born_on_the_last_day() -> None:
    curves = fit([[0.0] * 59 + [70.0]])
    assert curves.reason[0] == Reason.TOO_YOUNG
    assert curves.birth[0] == 60
    assert curves.life[0] == 1
    assert curves.phi_n[0] < 0.001
    assert (curves.phi_low[0], curves.phi_high[0]) == (0, 1)


def test_no_views() -> None:
    curves = fit([[0.0] * DAYS])
    assert curves.reason[0] == Reason.NO_VIEWS
    assert curves.birth[0] == 0
    assert curves.amplitude[0] == 0
    assert all(np.isfinite(column).all() for column in columns_of(curves).values())


@pytest.mark.parametrize("method", METHODS)
def test_a_flat_page_is_untemporal_and_no_better_than_a_constant(method: str) -> None:
    curves = fit([[5.0] * DAYS], Options(method=method))
    assert curves.converged[0]
    assert curves.phi_n[0] < 0.1
    assert curves.goodness[0] == 0
    assert curves.phi_low[0] == 0


@pytest.mark.parametrize("method", METHODS)
def test_two_humps_are_fitted_by_one_and_say_so(method: str) -> None:
    first = masses(500, 2.5, 0.5, 0.6)
    second = masses(500, 40.5, 0.5, 0.6)
    curves = fit([first + second, first], Options(method=method))
    assert curves.converged.all()
    assert curves.goodness[0] < 0.9 < curves.goodness[1]


@pytest.mark.parametrize("method", METHODS)
def test_born_before_the_window(method: str) -> None:
    """Two days of a fast life are missing; the curve makes them up, raw shares cannot."""
    x = np.arange(0, DAYS + 1) + 2.0
    mass = 3000 * np.diff(ndtr((np.log(x) - 0.7) / 0.9))
    curves = fit([mass], Options(method=method))
    assert curves.birth[0] == 1
    if method == "likelihood":
        assert curves.b[0] == pytest.approx(-2, abs=0.1)
        assert curves.phi_n[0] == pytest.approx(ndtr((math.log(3) - 0.7) / 0.9), abs=0.02)
    assert curves.b[0] >= -7


def test_a_stray_view_late_does_not_make_a_page_slow() -> None:
    page = masses(500, 5.5, 0.3, 0.6).round()
    page[55] += 1
    assert fit([page], Options(method="likelihood")).phi_n[0] > 0.9


def test_a_missing_day_counts_for_nothing() -> None:
    page = masses(2000, 10.4, 1.0, 0.9)
    observed = np.ones(DAYS, bool)
    observed[13] = False
    broken = page.copy()
    broken[13] = 0
    for method in METHODS:
        whole = fit([page], Options(method=method))
        holed = fit([broken], Options(method=method), observed=observed)
        assert holed.phi_n[0] == pytest.approx(whole.phi_n[0], abs=0.01)
        naive = fit([broken], Options(method=method))
        assert abs(naive.phi_n[0] - whole.phi_n[0]) > abs(holed.phi_n[0] - whole.phi_n[0])


@settings(max_examples=60)
@given(st.lists(st.integers(0, 10**6), min_size=12, max_size=12), st.sampled_from(METHODS))
def test_any_page_gives_finite_numbers_in_bounds(views: list[int], method: str) -> None:
    curves = fit([views], Options(method=method))
    for name, column in columns_of(curves).items():
        assert np.isfinite(column).all(), name
    assert 0 <= curves.phi_low[0] <= curves.phi_n[0] <= curves.phi_high[0] <= 1
    assert curves.phi_1[0] <= curves.phi_n[0]
    assert 0 <= curves.goodness[0] <= 1
    assert curves.amplitude[0] >= 0
    if curves.converged[0]:
        low, high = bounds(12, born_inside=bool(curves.birth[0] > 1))
        fitted = (curves.birth[0] - curves.b[0], curves.mu[0], curves.sigma[0])
        assert (low - 1e-9 <= fitted).all()
        assert (fitted <= high + 1e-9).all()


@pytest.mark.parametrize("method", METHODS)
def test_young_pages_have_finite_objectives(method: str) -> None:
    views = np.zeros((400, DAYS))
    tail = synthetic.draw(450, DAYS, seed=8).views[:400, :12]
    for page, row in enumerate(tail):
        views[page, DAYS - 12 + page % 8 :] = row[: 12 - page % 8]
    curves = fit(views, Options(method=method))
    assert np.isfinite(curves.objective).all()


def test_scale_does_not_change_the_shape() -> None:
    views = synthetic.draw(40, DAYS, seed=9).views.astype(float)
    for method in METHODS:
        small = fit(views, Options(method=method))
        large = fit(views * 1000, Options(method=method))
        same = small.converged
        np.testing.assert_allclose(small.phi_n[same], large.phi_n[same], atol=0.02)
        np.testing.assert_allclose(small.amplitude[same] * 1000, large.amplitude[same], rtol=0.2)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_the_truth_as_often_as_they_say(method: str) -> None:
    """Views that scatter by chance alone; pages born inside the window."""
    people = synthetic.draw(3000, DAYS, seed=3, weekend=1.0, base=0.0, day_noise=0.0)
    curves = fit(people.views, Options(method=method))
    truth = people.accumulated(3)
    asked = (people.birth >= 0) & curves.converged
    covered = (curves.phi_low <= truth) & (truth <= curves.phi_high)
    assert 0.92 <= covered[asked].mean() <= 0.99
    # And they say something: half of the pages are sure of the label.
    assert ((curves.phi_low > 0.7) | (curves.phi_high <= 0.7))[asked].mean() > 0.5


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match="pages x days"):
        fit([1.0, 2.0])
    with pytest.raises(ValueError, match="not negative"):
        fit([[1.0, -2.0]])
    with pytest.raises(ValueError, match="not negative"):
        fit([[1.0, math.nan]])
    with pytest.raises(ValueError, match="each of the 2 days"):
        fit([[1.0, 2.0]], observed=[True])
    with pytest.raises(ValueError, match="n must be positive"):
        fit([[1.0, 2.0]], Options(n=0))


def test_no_pages() -> None:
    assert len(fit(np.empty((0, DAYS))).phi_n) == 0


SHARP = ([111, 29], [186, 1208, 5], [137, 1615, 3], [1, 1], [5000, 1], [1, 5000], [40, 33, 3, 1])
"""Lives of two to four days: curves through every point, of which there are many."""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("life", SHARP)
def test_a_sharp_life_gets_its_answer(method: str, life: list[float]) -> None:
    """All interest lies in the days with views, in the limit of a curve that gets narrower."""
    curves = one([0.0] * 10 + life, Options(method=method))
    assert curves.converged[0]
    assert curves.phi_n[0] == pytest.approx(sum(life[:3]) / sum(life), abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_every_sharp_life_gets_an_answer(method: str) -> None:
    """Whatever its first days, the window it lies in and the trickle that follows."""
    rng = np.random.default_rng(5)
    views = np.zeros((2000, DAYS))
    for page in views:
        born, days = rng.integers(0, DAYS - 7), rng.integers(2, 5)
        page[born : born + days] = np.ceil(np.exp(rng.uniform(0, 9, days)))
        page[born:] += rng.poisson(np.exp(rng.uniform(-6, 1)), DAYS - born)
    curves = fit(views, Options(method=method))
    assert curves.converged.all()


@pytest.mark.parametrize("method", METHODS)
def test_the_limit_of_narrow_curves_is_a_step(method: str) -> None:
    """Known curves that narrow towards a step on their second day: all interest by the third."""
    sigma = np.geomspace(0.25, 0.1, 40)
    make = dots if method == "least_squares" else masses
    views = np.array([make(1000.0, 10.2, 0.4, one) for one in sigma])
    curves = fit(views, Options(method=method))
    truth = ndtr((math.log(3) - 0.4) / sigma)
    assert curves.converged.all()
    np.testing.assert_allclose(curves.phi_n, truth, atol=0.01)
