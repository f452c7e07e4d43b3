"""The arguments that the compiled loops of a fit pass to each other, as named tuples.

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
    """Lower bound of each parameter, shape (PARAMETERS,)."""
    high: Floats
    """Upper bound of each parameter, shape (PARAMETERS,)."""


class PageViews(NamedTuple):
    """The daily views of one page from its birth on."""

    views: Floats
    """Views per day, shape (days,): the days of the page's life, and padding at the end."""
    weight: Floats
    """1 for each observed day, 0 for missing days and padding, shape (days,)."""
    shift: float
    """Constant that turns -2 log-likelihood into a deviance; 0 for least squares."""
    flat: float
    """Objective of the best constant, the reference of relative gains."""


class Rival(NamedTuple):
    """The best descent so far, which the next one has to overtake."""

    theta: Floats
    """Parameters of the rival, shape (PARAMETERS,); mu is infinite before the first descent."""
    value: float
    """Objective of the rival; infinite before the first descent."""
    patience: float
    """Factor, 0 to 1, on how far behind the rival a descent may be before it is given up; the
    distance for 1 shrinks from round to round (`descent.allowed`)."""


class Scratch(NamedTuple):
    """Working memory of descents: allocating it each time would take longer than they do.

    Shapes contain three constants: PARAMETERS is 4, offset, mu, log sigma and the amplitude; ROWS
    (`page_equations`) is the number of values that the objective keeps per day; ROOM (`descent`) is
    the number of vectors of parameters that a descent keeps.
    """

    works: Floats
    """Values per day at the present parameters and at a trial step, shape (2, ROWS, days)."""
    room: Floats
    """Gradient, matrices and steps of a descent, shape (ROOM, PARAMETERS)."""
    free: NDArray[np.bool_]
    """Flags of the parameters that no edge of the box holds, shape (2, PARAMETERS): at the present
    parameters, and along a step."""
