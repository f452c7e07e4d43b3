"""Expected views of each day of a window under a fitted interest curve.

Here: that sum, as each fitting method defines it. Not here: fitting (`curves`), drawing. The
parameters are those of f(x) = amplitude * density(x - b; mu, sigma), see `lognormal`: b is the time
of birth ("activation") in days of the window, mu and sigma are of the log-normal density.
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
    """Return the expected views on each of the window's `days`; day i ends at time i.

    The likelihood gives a day the mass of the curve within it, least squares the height of the
    curve at the day's end. Days that end before the birth have no views.
    """
    age = np.arange(days + 1) - b
    if method == "likelihood":
        share = np.diff(accumulated(age, mu, sigma))
    else:
        share = density(age[1:], mu, sigma)
    views: Floats = np.where(age[1:] > 0, amplitude * share, 0.0)
    return views
