"""The descent's equations against differences of an objective written anew in numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.synthetic import draw
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
from temporal_assets.core.curves.starts import grid, is_peak

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
