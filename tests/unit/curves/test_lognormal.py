"""The curve's functions and the compiled elementary functions behind the fitter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erfcx

from temporal_assets.core.curves import lognormal
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
