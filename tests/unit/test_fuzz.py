"""A round of every target of the fuzzer: it runs, and nothing that it knows of breaks.

`python -m tests.fuzz` has as many rounds as there is time for (docs/security.md).
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.targets import TARGETS


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of expressions that somebody mistyped
@pytest.mark.parametrize("name", TARGETS)
def test_a_round(name: str) -> None:
    assert TARGETS[name](np.random.default_rng(2026)) > 0
