"""Curve fitting in its parts: density and masses, first guesses, derivatives, and the search."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import erfcx

from benchmarks.synthetic import draw
from temporal_assets.core.curves import lognormal
from temporal_assets.core.curves.curves import Method, Options, Reason, fit
from temporal_assets.core.curves.lognormal import daily_mass, density
from temporal_assets.core.curves.page_equations import (
    OFFSET,
    PARAMETERS,
    ROWS,
    dots_curvature,
    equations,
    mass_curvature,
    objective,
)
from temporal_assets.core.curves.starts import best_cells, compare, grid, is_peak
from temporal_assets.core.numerics import compiled


def test_density_and_accumulated_at_a_point_computed_by_hand() -> None:
    # At the median exp(mu): density 1 / (x sigma sqrt(2 pi)), half of the interest.
    assert lognormal.density(math.e, 1.0, 0.5) == pytest.approx(0.39894228 / (math.e * 0.5))
    assert lognormal.accumulated(math.e, 1.0, 0.5) == pytest.approx(0.5)
    # One sigma above in the logarithm: 0.8413.
    assert lognormal.accumulated(math.exp(1.5), 1.0, 0.5) == pytest.approx(0.841344746)
    assert lognormal.accumulated(0.0, 1.0, 0.5) == 0
    assert lognormal.density(-1.0, 1.0, 0.5) == 0


def test_daily_mass_adds_up_to_what_is_accumulated() -> None:
    mass = lognormal.daily_mass(0.4, 0.3, 0.7, 10)
    assert mass.sum() == pytest.approx(float(lognormal.accumulated(9.4, 0.3, 0.7)))
    assert mass[0] == pytest.approx(float(lognormal.accumulated(0.4, 0.3, 0.7)))


def test_daily_mass_keeps_its_digits_in_the_tail() -> None:
    mass = lognormal.daily_mass(1.0, 0.0, 0.3, 60)
    assert (mass[1:] > 0).all()
    assert (np.diff(np.log(mass[5:])) < 0).all()


@compiled.kernel
def _apply(which: int, x: np.ndarray, out: np.ndarray) -> None:
    for i in range(x.shape[0]):
        if which == 0:
            out[i] = compiled_exp(x[i])
        elif which == 1:
            out[i] = compiled_log(x[i])
        else:
            out[i] = compiled_mills(x[i])


compiled_exp, compiled_log, compiled_mills = compiled.exp, compiled.log, compiled.mills


@pytest.mark.parametrize(
    ("which", "low", "high", "reference", "tolerance"),
    [
        (0, -690.0, 690.0, np.exp, 2e-14),
        (1, 1e-12, 1e9, np.log, 1e-14),
        (2, 0.0, 40.0, lambda z: math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2)), 3e-11),
    ],
)
def test_elementary_functions(which, low, high, reference, tolerance) -> None:
    x = np.concatenate([np.linspace(low, high, 4001), np.linspace(max(low, 0.5), 2, 4001)])
    out = np.empty_like(x)
    _apply(which, x, out)
    np.testing.assert_allclose(out, reference(x), rtol=tolerance, atol=2e-16)


DAYS = 60


@pytest.mark.parametrize("mass", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_pages_abreast_are_compared_as_each_alone(mass: bool, inside: bool) -> None:
    cells = grid(DAYS, mass=mass, born_inside=inside)
    values = draw(16, DAYS, seed=5).views.astype(np.float32)
    values[3], values[5, 1:] = 0, 0
    tiles, days, width = cells.tiles.shape
    table = cells.tiles.swapaxes(0, 1).reshape(days, tiles * width)
    products = np.empty((16, tiles * width), np.float32)
    compare(values, len(values), cells.tiles, products)
    exact = values.astype(np.float64) @ table.astype(np.float64)
    scale = values.astype(np.float64) @ np.abs(table).astype(np.float64)
    assert np.all(np.abs(products - exact) <= 1e-5 * scale)
    assert np.all(table[:, len(cells.cells) :] == 0)
    alone = np.empty((1, tiles * width), np.float32)
    for page in range(16):
        compare(values[page : page + 1], 1, cells.tiles, alone)
        assert alone.tobytes() == products[page].tobytes()


def test_the_best_cells_are_the_first_best_of_the_best_groups() -> None:
    groups = grid(DAYS, mass=True, born_inside=False).groups
    rng = np.random.default_rng(7)
    for levels in (5, 1000):  # with many equals, and with few
        gains = -rng.integers(0, levels, groups[-1]).astype(np.float32)
        ranges = list(pairwise(groups))
        firsts = [first + int(np.argmax(gains[first:last])) for first, last in ranges]
        wanted = sorted(firsts, key=lambda cell: -gains[cell])[:4]
        peaks, values = np.empty(len(ranges), np.float32), np.empty(4, np.float32)
        cells = np.empty(4, np.int64)
        assert best_cells(gains, groups, peaks, cells, values) == 4
        assert cells.tolist() == wanted
        assert values.tolist() == gains[wanted].tolist()
        assert peaks.tolist() == gains[firsts].tolist()


LIFE = 16
SHAPES = ([0.6, 0.4, -0.2], [1.2, 2.5, 0.5], [4.5, -1.0, 0.3])
"""Offset (which the dots take by its logarithm), mu and log sigma; the last of a page born before
the window."""


def half_squares(at: np.ndarray, y: np.ndarray) -> float:
    a, log_offset, mu, log_sigma = at
    offset = float(np.exp(log_offset))
    curve = a * density(offset + np.arange(LIFE), mu, np.exp(log_sigma))
    return float(0.5 * np.sum((y - curve) ** 2))


def minus_likelihood(at: np.ndarray, y: np.ndarray) -> float:
    a, offset, mu, log_sigma = at
    mass = daily_mass(offset, mu, float(np.exp(log_sigma)), LIFE)
    expected = a * (mass + 1e-6 * mass.mean())
    return float(np.sum(expected - y * np.log(expected)))


def differences(
    function: Callable[[np.ndarray, np.ndarray], float], at: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives by central differences."""
    step = 1e-4 * np.maximum(np.abs(at), 1.0)
    moves = np.diag(step)
    first = np.array([function(at + m, y) - function(at - m, y) for m in moves]) / (2 * step)
    second = np.empty((len(at), len(at)))
    for i, one in enumerate(moves):
        for j, other in enumerate(moves):
            corners = [
                sign * function(at + a * one + b * other, y)
                for a, b, sign in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
            ]
            second[i, j] = sum(corners) / (4 * step[i] * step[j])
    return first, second


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("likelihood", [False, True])
def test_equations_are_derivatives_of_the_objective(likelihood: bool, shape: list[float]) -> None:
    y = np.array([50, 31, 20, 9, 14, 3, 0, 6, 2, 1, 0, 0, 2, 0, 1, 1], dtype=float)
    weight = np.ones(LIFE)
    theta = np.array([0.0, *shape])
    if not likelihood:
        theta[OFFSET] = np.log(theta[OFFSET])
    work = np.zeros((ROWS, LIFE + 32))
    h, g = np.zeros((PARAMETERS, PARAMETERS)), np.zeros(PARAMETERS)
    objective(likelihood, theta, y, weight, LIFE, work)
    equations(likelihood, theta, y, weight, LIFE, work, h, g)
    if likelihood:
        mass_curvature(theta, LIFE, work, h)
    else:
        dots_curvature(theta, LIFE, work, g, h)
    function = minus_likelihood if likelihood else half_squares
    first, second = differences(function, theta, y)
    scale = np.sqrt(np.abs(np.outer(np.diag(second), np.diag(second))))
    np.testing.assert_allclose(-g, first, atol=1e-3 * np.abs(first).max())
    np.testing.assert_allclose(h / scale, second / scale, atol=2e-3)


def test_a_peak_of_the_grid_is_no_worse_than_the_cells_beside_it() -> None:
    cells = grid(30, mass=True, born_inside=True)
    gains = np.zeros(len(cells.cells), np.float32)
    gains[100] = 1.0
    beside = [k for k in cells.neighbours[100] if k != 100]
    assert len(beside) > 3
    assert is_peak(gains, cells.neighbours, 100)
    assert not is_peak(gains, cells.neighbours, beside[0])
    offset, mu, log_sigma = cells.cells[100]
    for other_offset, other_mu, other_log_sigma in cells.cells[beside]:
        assert abs(other_mu - mu) <= 0.81
        assert other_offset == offset or other_log_sigma == log_sigma


@pytest.mark.parametrize(("method", "most"), [("likelihood", 20), ("least_squares", 38)])
def test_a_search_is_short_and_its_length_is_told(method: Method, most: int) -> None:
    curves = fit(draw(300, 60, seed=4).views, Options(method))
    asked = curves.evaluations[curves.reason <= Reason.OUT_OF_ROUNDS]
    assert 3 < asked.mean() < most
    assert (curves.evaluations[curves.reason > Reason.OUT_OF_ROUNDS] == 0).all()
