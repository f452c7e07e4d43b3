"""A page is compared with the grid as one would do it day by day."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.synthetic import draw
from temporal_assets.core.curves.starts import best_cells, compare, grid

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
