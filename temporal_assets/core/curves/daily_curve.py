"""Expected views of each day of a window under a fitted curve, in the terms of its method.

Here: that sum. Not here: fitting (`curves`), drawing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.curves.curves import Method
from temporal_assets.core.curves.lognormal import accumulated, density

Floats = NDArray[np.float64]


def expected_views(
    days: int, amplitude: float, b: float, mu: float, sigma: float, method: Method
) -> Floats:
    """Return views on each of the window's `days`, of which day i ends at time i.

    The likelihood gives a day the mass of the curve; least squares its height at the day's end.
    Days that end before the activation have none.
    """
    age = np.arange(days + 1) - b
    if method == "likelihood":
        share = np.diff(accumulated(age, mu, sigma))
    else:
        share = density(age[1:], mu, sigma)
    views: Floats = np.where(age[1:] > 0, amplitude * share, 0.0)
    return views
