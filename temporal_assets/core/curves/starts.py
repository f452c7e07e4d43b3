"""Starts of fits: a grid of curves, all compared with a page at once.

Here: the grid, its tables for one length of window, and the loop that finds the best few cells for
a page. Not here: what happens from there (`descent`).

The comparison of a page with every curve of the grid is one row of a matrix product. It is written
out as a loop, so that a page's result does not depend on which pages lie beside it: a product of
two matrices may sum in another order at its edges. Some pages are compared at a time, with one tile
of the grid after the other: a tile stays in the processor's nearest memory, the grid does not.
"""

from __future__ import annotations

import functools
import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.curves.lognormal import (
    MAX_SIGMA,
    MIN_MU,
    MIN_OFFSET,
    MIN_SIGMA,
    STRAY,
    daily_mass,
    density,
    max_mu,
)
from temporal_assets.core.numerics.compiled import kernel, making, numbers

Singles = NDArray[np.float32]

_TILE: Final = 64
"""Cells that are compared at once: 60 days of them are half of the nearest memory."""

_SIGMAS: Final = (MIN_SIGMA, 0.17, 0.29, 0.48, 0.75, 1.1, 1.6, 2.2, MAX_SIGMA)
_OFFSETS_INSIDE: Final = (MIN_OFFSET, 0.17, 0.4, 0.7, 1.0)
_OFFSETS_BEFORE: Final = (MIN_OFFSET, 0.17, 0.4, 0.7, 1.0, 1.6, 2.5, 4.5, 8.0)
_NARROW: Final = 0.3
"""Sigma below which a curve is a hump of its own day, so that mu outside the window shows
nothing."""


class Grid(NamedTuple):
    """Curves of a grid, and tables for comparing them with a page of any life.

    Cells are sorted by group: cells of one group have similar sigma, mu and offset.
    """

    tiles: Singles
    """tiles x days x cells of a tile: the dots, or the logarithm of the daily mass; 0 beyond the
    last cell."""
    sums: Singles
    """days x cells: sum over the first (row + 1) days of the dots, or the logarithm of the sum of
    the mass."""
    squares: Singles
    """days x cells: the same of the dots' squares; unused by the likelihood."""
    cells: NDArray[np.float64]
    """cells x 3: offset, mu, log sigma."""
    groups: NDArray[np.int64]
    """First cell of each group, and the number of cells."""
    neighbours: NDArray[np.int64]
    """cells x some: cells of the next offset, mu or sigma; itself where there are fewer."""


@functools.lru_cache(maxsize=16)
def grid(days: int, *, mass: bool, born_inside: bool) -> Grid:
    """Return the grid for a window of `days`; `mass` for the likelihood, else for the dots."""
    cells, groups = _cells(days, born_inside=born_inside)
    curves = np.empty((days, len(cells)))
    visible = np.ones((days, len(cells)), np.bool_)
    for k, (offset, mu, log_sigma) in enumerate(cells):
        sigma = math.exp(log_sigma)
        if mass:
            shape = daily_mass(offset, mu, sigma, days)
            visible[:, k] = np.cumsum(shape) > _VISIBLE
            curves[:, k] = shape + STRAY * shape.mean()
        else:
            curves[:, k] = density(offset + np.arange(days), mu, sigma)
    if not mass:
        # Scale does not matter to the dots, and narrow curves are huge or vanish between them.
        curves /= np.maximum(curves.max(axis=0), 1e-300)
    sums = np.cumsum(curves, axis=0)
    if mass:
        sums = np.where(visible, np.log(sums), _NEVER)
    return Grid(
        _in_tiles((np.log(curves) if mass else curves).astype(np.float32)),
        sums.astype(np.float32),
        np.cumsum(curves**2, axis=0).astype(np.float32),
        cells,
        groups,
        _neighbours(cells),
    )


def _in_tiles(table: Singles) -> Singles:
    """Return a table of shape (tiles, days, cells per tile) from one of shape (days, cells)."""
    days, cells = table.shape
    padded = np.zeros((days, -(-cells // _TILE) * _TILE), np.float32)
    padded[:, :cells] = table
    return np.ascontiguousarray(padded.reshape(days, -1, _TILE).swapaxes(0, 1))


_VISIBLE: Final = 1e-6
"""Least share of its interest that a curve of the grid has inside a page's life."""
_NEVER: Final = 1e30
"""Logarithm of a sum that excludes a cell from comparison."""
_LATE: Final = (0.1, 0.5)
"""Offsets of the grid: births late, later or early on the first day are often different valleys."""


def _cells(days: int, *, born_inside: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the grid of starting curves by group, and where each group begins."""
    offsets = _OFFSETS_INSIDE if born_inside else _OFFSETS_BEFORE
    cells: list[tuple[int, float, float, float]] = []
    for rank, sigma in enumerate(_SIGMAS):
        step = _mu_step(sigma)
        low = math.log(0.25) if sigma < _NARROW else MIN_MU
        high = math.log(1.5 * days) if sigma < _NARROW else max_mu(days)
        for mu in np.linspace(low, high, 1 + math.ceil((high - low) / step)):
            band = int(3.999 * (mu - MIN_MU) / (max_mu(days) - MIN_MU))
            for offset in offsets:
                group = band + 4 * (rank // 3) + 12 * sum(offset > late for late in _LATE)
                cells.append((group, offset, float(mu), math.log(sigma)))
    cells.sort()
    table = np.array(cells)
    first = np.flatnonzero(np.diff(table[:, 0], prepend=-1.0))
    return np.ascontiguousarray(table[:, 1:]), np.append(first, len(table)).astype(np.int64)


def _neighbours(cells: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return cells next to each cell: one step in offset or in sigma, each also with one in mu."""
    offset, mu, log_sigma = cells.T
    offset_rank = np.unique(offset, return_inverse=True)[1]
    sigma_rank = np.unique(log_sigma, return_inverse=True)[1]
    step = np.array([_mu_step(sigma) for sigma in np.exp(log_sigma)])
    neighbours = []
    for k in range(len(cells)):
        ranks = np.abs(offset_rank - offset_rank[k]) + np.abs(sigma_rank - sigma_rank[k])
        beside = np.abs(mu - mu[k]) <= 1.01 * np.maximum(step, step[k])
        neighbours.append(np.flatnonzero((ranks <= 1) & beside))
    table = np.repeat(np.arange(len(cells))[:, None], max(map(len, neighbours)), axis=1)
    for k, cells_beside in enumerate(neighbours):
        table[k, : len(cells_beside)] = cells_beside
    return table.astype(np.int64)


def _mu_step(sigma: float) -> float:
    return min(max(sigma, 0.22), 0.8)


@kernel
def is_peak(gains: Singles, neighbours: NDArray[np.int64], cell: int) -> bool:
    """Return True if no neighbour of the cell is better."""
    best = cell
    for other in neighbours[cell]:
        best = other if gains[other] > gains[best] else best
    return bool(best == cell)


@making
def compare(values: Singles, pages: int, tiles: Singles, products: Singles) -> None:
    """Write products[p, k], the sum over days of page p's views times the day's value of cell k.

    Days without views are skipped; most pages have many.
    """
    days = np.empty((pages, values.shape[1]), np.int64)
    active_days = np.zeros(pages, np.int64)
    for p in range(pages):
        for day in range(values.shape[1]):
            if values[p, day] != 0:
                days[p, active_days[p]] = day
                active_days[p] += 1
    for t in range(tiles.shape[0]):
        for p in range(pages):
            sums = products[p, t * _TILE : (t + 1) * _TILE]
            sums[:] = 0
            for n in range(active_days[p]):
                day = days[p, n]
                for k in range(_TILE):
                    sums[k] += values[p, day] * tiles[t, day, k]


@kernel
def gains_of_dots(products: Singles, squares: Singles) -> None:
    """Turn products into the squares explained by the best A of each cell, in place."""
    tiny = np.float32(1e-12)
    for k in range(products.shape[0]):
        dot = max(products[k], np.float32(0))
        size = squares[k] + tiny
        products[k] = dot * dot / size


@kernel
def gains_of_mass(products: Singles, sums: Singles) -> None:
    """Turn products into log-likelihoods per view (up to a constant), in place."""
    for k in range(products.shape[0]):
        products[k] -= sums[k]


@numbers
def _highest(gains: Singles, first: int, last: int) -> float:
    highest: float = gains[first]
    for k in range(first + 1, last):
        highest = gains[k] if gains[k] > highest else highest
    return highest


@kernel
def best_cells(
    gains: Singles,
    groups: NDArray[np.int64],
    peaks: Singles,
    cells: NDArray[np.int64],
    values: Singles,
) -> int:
    """Write the best cell of each of the best groups, best first; return how many there are.

    `peaks` gets the gain of every group's best cell.
    """
    wanted = len(cells)
    count = 0
    for g in range(len(groups) - 1):
        peak = _highest(gains, groups[g], groups[g + 1])
        peaks[g] = peak
        if count == wanted and peak <= values[count - 1]:
            continue
        best = groups[g]
        while gains[best] != peak:
            best += 1
        place = min(count, wanted - 1)
        while place > 0 and peak > values[place - 1]:
            values[place], cells[place] = values[place - 1], cells[place - 1]
            place -= 1
        values[place], cells[place] = peak, best
        count = min(count + 1, wanted)
    return count
