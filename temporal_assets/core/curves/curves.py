"""Interest curves of many pages at once (TW 4.1): `fit` takes views by page and day.

Here: the options, the loop over pages, the results per page, and the threads. Not here: the
grid of starts (`starts`), the descent (`descent`), intervals (`interest`), labels (`labels`).

Both methods fit f(x) = A * density(x - b; mu, sigma) to a page's daily views, from its
first day with views to the end of the window. `least_squares` (the paper's) puts day i's views at
x = i; `likelihood` gives day i the mass of the curve between i - 1 and i and lets views be Poisson.

A page is fitted in four steps (`_fit_rows`): a page without enough views gets a defined answer
(`_degenerate`); its views are compared with a grid of curves, whose best cells are the starts; a
descent runs from each start that may still win (`_best_of`); the interval of Phi(n) is taken from
the cells of the grid that fit about as well.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from temporal_assets.core.curves.descent import ROOM, allowed, copy, descend
from temporal_assets.core.curves.interest import Support, interval, phi
from temporal_assets.core.curves.lognormal import MIN_SIGMA, SLOWEST, accumulated, bounds
from temporal_assets.core.curves.page_equations import (
    AMPLITUDE,
    LOG_SIGMA,
    MU,
    OFFSET,
    PARAMETERS,
    ROWS,
    objective,
    offset_of,
)
from temporal_assets.core.curves.problem import Model, PageViews, Rival, Scratch
from temporal_assets.core.curves.starts import (
    Grid,
    Singles,
    best_cells,
    compare,
    gains_of_dots,
    gains_of_mass,
    grid,
    is_peak,
)
from temporal_assets.core.numerics.compiled import kernel, making

Floats = NDArray[np.float64]
Method = Literal["least_squares", "likelihood"]

MIN_LIFE: Final = 5
"""Observed days a curve needs: it has four parameters."""

_STARTS: Final = 4
"""Descents per page at most."""
_ROUNDS: Final = 400
"""Rounds per descent at most."""
_ENOUGH: Final = 1e-5
"""Relative gain of a round below which a descent ends."""
_NO_PEAK_OF_MASS: Final = 0.5
"""Patience (`Rival.patience`) of a likelihood fit with a start that is no peak of the grid: most
such descents end in another start's valley."""
_NO_PEAK_OF_DOTS: Final = 0.2
"""Patience of a least-squares fit with a start that is no peak of the grid."""
_CHUNK: Final = 2048
"""Pages a thread takes at once: small enough to share the work evenly."""
_ABREAST: Final = 16
"""Pages that are compared with the grid together."""
_LANES: Final = 16
"""Days are padded (with weight 0) to a multiple of what the processor works on at once: a
remainder of 12 days would take as long as the 48 before it."""
_RULE_OF_THREE: Final = 3.0
"""Number behind the rule of three: with no view in T, the rate is below 3 / T with 95 %
confidence."""


class Reason(IntEnum):
    """Ways in which the fit of a page ends. The first two are convergence."""

    CONVERGED = 0
    AT_BOUND = 1
    """Converged, with a parameter at the edge of its box: the data would go further."""
    OUT_OF_ROUNDS = 2
    ONE_DAY = 3
    """All views on one day: every narrow curve fits. A narrow one is given."""
    TOO_YOUNG = 4
    """Fewer than MIN_LIFE observed days since birth. The slowest curve is given."""
    NO_VIEWS = 5
    """The page has no views: the slowest curve is given, with A = 0."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a fit: the method, and what it may assume."""

    method: Method = "likelihood"
    """`likelihood` is the better one (docs/labels.md); `least_squares` is the paper's."""
    n: float = 3.0
    """Days after birth at which accumulated interest is reported."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Fitted curves, one row per page; every number is finite for every page."""

    amplitude: Floats
    """A: views over the whole life."""
    b: Floats
    """Time at which the curve begins, in days; day 1 of the window is (0, 1]."""
    mu: Floats
    """Mean of the logarithm of a view's age in days."""
    sigma: Floats
    """Standard deviation of the logarithm of a view's age in days."""
    objective: Floats
    """Sum of squares, or deviance, at the fitted curve."""
    goodness: Floats
    """R squared, or share of the deviance explained; 0 if no better than a constant."""
    phi_1: Floats
    """Accumulated interest after one day, in [0, 1]."""
    phi_n: Floats
    """Accumulated interest after n days, in [0, 1]."""
    phi_low: Floats
    """Lower bound of the 95 % interval of `phi_n`."""
    phi_high: Floats
    """Upper bound of the 95 % interval of `phi_n`."""
    birth: NDArray[np.int32]
    """First day with views, from 1; 0 for pages without views."""
    life: NDArray[np.int32]
    """Days from birth to the end of the window, inclusive."""
    reason: NDArray[np.int8]
    """Way in which the fit ended, a `Reason`."""
    evaluations: NDArray[np.int32]
    """Evaluations of the objective that the search took."""

    @property
    def converged(self) -> NDArray[np.bool_]:
        """True where the descent ended at a minimum."""
        return self.reason <= Reason.AT_BOUND

    @property
    def tells_interest(self) -> NDArray[np.bool_]:
        """True where Phi is known: a curve converged, or all views are on one day."""
        tells: NDArray[np.bool_] = self.converged | (self.reason == Reason.ONE_DAY)
        return tells

    def is_above(self, q: float | Floats) -> NDArray[np.bool_]:
        """Return True for temporal pages: Phi(n) > q (TW 4.2); false where Phi is not known."""
        return self.tells_interest & (self.phi_n > q)

    def accumulated(self, n: ArrayLike) -> Floats:
        """Return the accumulated interest after any number of days, defined as `phi_n`."""
        return accumulated(n, self.mu, self.sigma)


_NUMBERS: Final = (
    "amplitude",
    "b",
    "mu",
    "sigma",
    "objective",
    "goodness",
    "phi_1",
    "phi_n",
    "phi_low",
    "phi_high",
)
"""Order in which the compiled loop writes a page's numbers."""
_AT_BOUND: Final = int(Reason.AT_BOUND)
_OUT_OF_ROUNDS: Final = int(Reason.OUT_OF_ROUNDS)
_ONE_DAY: Final = int(Reason.ONE_DAY)
_TOO_YOUNG: Final = int(Reason.TOO_YOUNG)
_NO_VIEWS: Final = int(Reason.NO_VIEWS)


def fit(
    views: ArrayLike,
    options: Options | None = None,
    *,
    observed: ArrayLike | None = None,
    workers: int | None = None,
) -> Curves:
    """Fit every page of a batch.

    Args:
        views: Shape (pages, days): counts or any non-negative numbers.
        options: Method and n.
        observed: Shape (days): False for days that are missing from the data; they are ignored.
        workers: Threads; all cores when None.

    Memory is a few numbers per page besides `views`; give batches as large as `views` may be. A
    page's row depends on nothing but its own views, `observed` and `options`.
    """
    options = options or Options()
    table = np.asarray(views)
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"views must be pages x days, not of shape {table.shape}")
    pages, days = table.shape
    weight = _weights(observed, days)
    first_day = int(np.argmax(weight))
    plan = _Plan(options, days)
    numbers = np.empty((pages, len(_NUMBERS)))
    states = np.zeros((pages, 4), np.int32)

    def work(first: int) -> None:
        rows = slice(first, min(first + _CHUNK, pages))
        block = np.ascontiguousarray(table[rows], dtype=np.float64)
        if not np.all(np.isfinite(block) & (block >= 0)):
            raise ValueError("views must be finite and not negative")
        births = np.argmax(block * weight > 0, axis=1)
        for born_inside in (True, False):
            chosen = np.flatnonzero((births > first_day) == born_inside)
            pages_of_batch = _Batch(block, births, weight, chosen, not born_inside)
            _fit_rows(*plan.of(born_inside), pages_of_batch, numbers[rows], states[rows])

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        list(pool.map(work, range(0, pages, _CHUNK)))
    columns: dict[str, Any] = {
        name: np.ascontiguousarray(numbers[:, k]) for k, name in enumerate(_NUMBERS)
    }
    return Curves(
        **columns,
        birth=states[:, 0].copy(),
        life=states[:, 1].copy(),
        reason=states[:, 2].astype(np.int8),
        evaluations=states[:, 3].copy(),
    )


def _weights(observed: ArrayLike | None, days: int) -> Floats:
    """Return 1 for each observed day and 0 for the others; all are observed where None is given."""
    if observed is None:
        return np.ones(days)
    weight = np.asarray(observed, dtype=np.float64)
    if weight.shape != (days,) or not np.all((weight == 0) | (weight == 1)):
        raise ValueError(f"observed must hold one truth value for each of the {days} days")
    return weight


class _Plan:
    """Everything that the compiled loop needs for all pages of a batch alike."""

    def __init__(self, options: Options, days: int) -> None:
        if options.n <= 0:
            raise ValueError("n must be positive")
        self._options, self._days = options, days

    def of(self, born_inside: bool) -> tuple[Model, Grid, Floats]:
        """Return model, grid and interest of its cells, for pages born in or before the window."""
        options, days = self._options, self._days
        mass = options.method == "likelihood"
        cells = grid(days, mass=mass, born_inside=born_inside)
        box = _box(days, options, born_inside=born_inside)
        model = Model(mass, float(options.n), *box)
        return model, cells, _cell_shares(cells, options.n)


def _box(days: int, options: Options, *, born_inside: bool) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of the parameters, as the descent uses them (logarithms)."""
    low, high = np.zeros(PARAMETERS), np.zeros(PARAMETERS)
    low[OFFSET:], high[OFFSET:] = bounds(days, born_inside=born_inside)
    for box in (low, high):
        box[LOG_SIGMA] = math.log(box[LOG_SIGMA])
        if options.method == "least_squares":
            box[OFFSET] = math.log(box[OFFSET])
    low[AMPLITUDE], high[AMPLITUDE] = 0.0, math.inf
    return low, high


def _cell_shares(cells: Grid, n: float) -> Floats:
    """Return the accumulated interest after n days of the curve in each cell of the grid."""
    _, mu, log_sigma = cells.cells.T
    shares: Floats = ndtr((math.log(n) - mu) / np.exp(log_sigma))
    return shares


class _Batch(NamedTuple):
    """Views of a batch, and which of its pages are fitted."""

    views: Floats
    """Views by page and day of the window, shape (pages, days)."""
    births: NDArray[np.int64]
    """Index of each page's first day with views, shape (pages,)."""
    weight: Floats
    """1 for each observed day, 0 for missing ones, shape (days,)."""
    chosen: NDArray[np.int64]
    """Rows to fit."""
    unseen: bool
    """True if these pages may have been born before the window."""


@making
def _fit_rows(
    model: Model,
    cells: Grid,
    cell_shares: Floats,
    batch: _Batch,
    numbers: Floats,
    states: NDArray[np.int32],
) -> None:
    """Fit the chosen rows of a batch into the same rows of `numbers` and `states`.

    `cell_shares` has the interest after n days of each cell of the grid. `numbers` has the columns
    `_NUMBERS`, `states` birth, life, reason and evaluations. Pages are compared with the grid
    `_ABREAST` at a time, as the product of two matrices; `singles` and `products` are its input
    and output in single precision.
    """
    likelihood, n = model.likelihood, model.n
    views, births, weight, chosen, unseen = batch
    days = views.shape[1]
    padded = np.empty((2, days + _LANES))
    singles = np.empty((_ABREAST, days), np.float32)
    totals = np.empty(_ABREAST)
    products = np.empty((_ABREAST, cells.tiles.shape[0] * cells.tiles.shape[2]), np.float32)
    peaks = np.empty(len(cells.groups) - 1, np.float32)
    starts = np.empty(_STARTS, np.int64)
    values = np.empty(_STARTS, np.float32)
    works = np.empty((2, ROWS, days + 2 * _LANES))
    scratch = Scratch(works, np.empty((ROOM, PARAMETERS)), np.empty((2, PARAMETERS), np.bool_))
    best = np.empty(PARAMETERS)
    for first in range(0, len(chosen), _ABREAST):
        abreast = min(_ABREAST, len(chosen) - first)
        for slot in range(abreast):
            row = chosen[first + slot]
            birth = births[row]
            daily, observed = views[row, birth:], weight[birth:]
            states[row, 0], states[row, 1], states[row, 3] = birth + 1, len(daily), 0
            has_answer = _degenerate(
                daily, observed, birth, days, n, unseen, numbers[row], states[row]
            )
            totals[slot] = _filled(daily, observed, has_answer, singles[slot])
        compare(singles, abreast, cells.tiles, products)
        for slot in range(abreast):
            if totals[slot] == 0:
                continue
            row, total, gains = (
                chosen[first + slot],
                totals[slot],
                products[slot, : len(cells.cells)],
            )
            birth = births[row]
            daily, observed = views[row, birth:], weight[birth:]
            life = len(daily)
            if likelihood:
                gains_of_mass(gains, cells.sums[life - 1])
            else:
                gains_of_dots(gains, cells.squares[life - 1])
            peak_count = best_cells(gains, cells.groups, peaks, starts, values)
            constant_objective, shift = _of_constant(likelihood, daily, observed)
            length = _pad(daily, observed, padded)
            page = PageViews(padded[0, :length], padded[1, :length], shift, constant_objective)
            states[row, 2], states[row, 3] = _best_of(
                model, page, cells, gains, starts[:peak_count], total, scratch, best
            )
            value = objective(likelihood, best, page.views, page.weight, length, works[0])
            support = Support(gains, peaks, cells.groups, cell_shares)
            low, high = interval(model, page, best, works[0], value, support, unseen)
            value = max(value + shift, 0.0)
            goodness = (
                max(0.0, 1.0 - value / constant_objective)
                if constant_objective > 1e-12 * total
                else 0.0
            )
            _tell(likelihood, best, birth, n, value, goodness, low, high, numbers[row])


@kernel
def _pad(y: Floats, w: Floats, padded: Floats) -> int:
    """Copy views and weights and pad them with weight 0; return the padded length."""
    length = _LANES * ((len(y) + _LANES - 1) // _LANES)
    for i in range(length):
        padded[0, i] = y[i] if i < len(y) else 0.0
        padded[1, i] = w[i] if i < len(y) else 0.0
    return length


@making
def _tell(
    likelihood: bool,
    theta: Floats,
    birth: int,
    n: float,
    value: float,
    goodness: float,
    bottom: float,
    top: float,
    numbers: Floats,
) -> None:
    """Write the output numbers of a fitted page into its row."""
    numbers[0] = theta[AMPLITUDE]
    numbers[1] = birth + 1.0 - offset_of(likelihood, theta)
    numbers[2] = theta[MU]
    numbers[3] = math.exp(theta[LOG_SIGMA])
    numbers[4] = value
    numbers[5] = goodness
    numbers[6] = phi(1.0, theta[MU], theta[LOG_SIGMA])
    numbers[7] = phi(n, theta[MU], theta[LOG_SIGMA])
    # The interval was taken around the same share, of which the compiler may round another way.
    numbers[8] = min(bottom, numbers[7])
    numbers[9] = max(top, numbers[7])


@kernel
def _degenerate(
    y: Floats,
    w: Floats,
    birth: int,
    days: int,
    n: float,
    unseen: bool,
    numbers: Floats,
    state: NDArray[np.int32],
) -> bool:
    """Write the defined answer for a page that cannot be fitted; return False if it can be.

    With `unseen`, the page may be older than the window: views on one day may be the last of a long
    life and give no lower bound of its interest.
    """
    views = observed = 0.0
    active = 0
    for i in range(len(y)):
        views += w[i] * y[i]
        observed += w[i]
        active += 1 if w[i] * y[i] > 0 else 0
    mu, log_sigma = math.log(SLOWEST * days), 0.0
    if active == 0:
        state[0], reason = 0, _NO_VIEWS
    elif observed < MIN_LIFE:
        reason = _TOO_YOUNG
    elif active == 1:
        mu, log_sigma, reason = math.log(0.5), math.log(MIN_SIGMA), _ONE_DAY
    else:
        return False
    is_certain = reason == _ONE_DAY
    numbers[0] = views
    numbers[1] = birth + 0.5 if active > 0 else 0.0
    numbers[2] = mu
    numbers[3] = math.exp(log_sigma)
    numbers[4] = 0.0
    numbers[5] = 1.0 if is_certain else 0.0
    numbers[6] = phi(1.0, mu, log_sigma)
    numbers[7] = phi(n, mu, log_sigma)
    is_bounded = is_certain and not unseen
    numbers[8] = min(numbers[7], max(0.0, 1.0 - _RULE_OF_THREE / views)) if is_bounded else 0.0
    numbers[9] = 1.0
    state[2] = reason
    return True


@kernel
def _filled(y: Floats, w: Floats, has_answer: bool, singles: Singles) -> float:
    """Write the share of views of each day to `singles`, missing days filled; return total views.

    A missing day gets the share of the day before it; days beyond the page's life get 0. Only the
    comparison with the grid uses the result. With `has_answer`, the page is not fitted, and all
    shares are 0.
    """
    total = last = 0.0
    for i in range(len(singles)):
        singles[i] = 0.0
    if has_answer:
        return total
    for i in range(len(y)):
        last = y[i] if w[i] > 0 else last
        total += last
        singles[i] = np.float32(last)
    for i in range(len(y)):
        singles[i] /= np.float32(total)
    return total


@kernel
def _of_constant(likelihood: bool, y: Floats, w: Floats) -> tuple[float, float]:
    """Return the objective of the best constant, and the shift of -2 log-likelihood to deviance."""
    views = observed = 0.0
    for i in range(len(y)):
        views += w[i] * y[i]
        observed += w[i]
    mean = views / observed
    squares = deviance = shift = 0.0
    for i in range(len(y)):
        if w[i] > 0:
            squares += (y[i] - mean) ** 2
            if y[i] > 0:
                deviance += 2.0 * y[i] * math.log(y[i] / mean)
                shift += 2.0 * y[i] * math.log(y[i])
    return (deviance, shift) if likelihood else (squares, 0.0)


@making
def _best_of(
    model: Model,
    page: PageViews,
    cells: Grid,
    gains: Singles,
    starts: NDArray[np.int64],
    total: float,
    scratch: Scratch,
    best: Floats,
) -> tuple[int, int]:
    """Descend from every start that may still beat the best curve so far; keep it in `best`.

    `gains` are those of the grid's cells, in single precision. `total` is the number of views with
    missing days filled. Returns how the fit ended, and the number of evaluations.
    """
    likelihood, y, w = model.likelihood, page.views, page.weight
    theta = np.empty(PARAMETERS)
    best[MU] = math.inf  # near nothing
    lowest, settled, evaluations = math.inf, False, 0
    views = size = 0.0
    for i in range(len(y)):
        views += w[i] * y[i]
        size += w[i] * y[i] * y[i]
    for start in starts:
        patience = _NO_PEAK_OF_MASS if likelihood else _NO_PEAK_OF_DOTS
        if is_peak(gains, cells.neighbours, start):
            patience = 1.0
        expected = size - total * total * gains[start]
        if likelihood:
            expected = -2.0 * views * (math.log(views) + gains[start])
        allow = allowed(likelihood, 0, patience, lowest + page.shift, page.flat)
        if lowest < math.inf and expected - lowest > allow:
            continue
        theta[AMPLITUDE] = 0.0
        copy(cells.cells[start], theta[OFFSET:])
        if not likelihood:
            theta[OFFSET] = math.log(theta[OFFSET])
        rival = Rival(best, lowest, patience)
        value, is_done, used = descend(model, page, theta, rival, scratch, _ROUNDS, _ENOUGH)
        evaluations += used
        if value < lowest:
            lowest, settled = value, is_done
            copy(theta, best)
    reason = 0 if settled else _OUT_OF_ROUNDS
    for k in range(OFFSET, PARAMETERS):
        at_edge = best[k] <= model.low[k] + 1e-9 or best[k] >= model.high[k] - 1e-9
        if at_edge and reason == 0:
            reason = _AT_BOUND
    return reason, evaluations
