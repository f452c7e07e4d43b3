"""The parts of a fit that travel together through the compiled loops.

Here: named tuples, which compiled functions take apart without cost. Not here: what is computed
from them (`page_equations`, `descent`, `interest`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Model(NamedTuple):
    """The curve that is fitted, and the box its parameters stay in."""

    likelihood: bool
    """True: Poisson likelihood of daily mass; False: least squares of the density (the paper's)."""
    n: float
    """Days after birth at which accumulated interest is reported."""
    low: Floats
    high: Floats
    """Bounds of each parameter."""


class PageViews(NamedTuple):
    """The daily views of one page from its birth on."""

    views: Floats
    weight: Floats
    """1 for each observed day, 0 for missing days and padding."""
    shift: float
    """Constant that turns -2 log-likelihood into a deviance; 0 for least squares."""
    flat: float
    """Objective of the best constant, the reference of relative gains."""


class Rival(NamedTuple):
    """The best descent so far, which the next one has to overtake."""

    theta: Floats
    """Its parameters; mu is infinite where there is none."""
    value: float
    """Its objective; infinite where there is none."""
    patience: float
    """Share of the usual distance behind the rival at which a descent is given up (`allowed`)."""


class Scratch(NamedTuple):
    """Working memory of descents: allocating it each time would take longer than they do.

    ROWS, ROOM and PARAMETERS are constants of `descent` and `page_equations`.
    """

    works: Floats
    """2 x ROWS x days."""
    room: Floats
    """ROOM x PARAMETERS."""
    free: NDArray[np.bool_]
    """2 x PARAMETERS."""
