"""Compiling ahead of need calls the loops that windows call, on the same types."""

from __future__ import annotations

import numpy as np

from temporal_assets.cli.shared.precompile import compile_all
from temporal_assets.core.curves import curves
from temporal_assets.core.patterns import pattern_match, pattern_tree
from temporal_assets.core.text.texts import texts


def test_what_is_compiled_ahead_is_what_is_called_later() -> None:
    compile_all()
    loops = (curves._fit_rows, pattern_match._match, pattern_tree._partition)
    compiled = [set(loop.signatures) for loop in loops]
    assert all(compiled)
    curves.fit(np.ones((3, 60), np.int32))
    pattern_tree.pattern_tree(texts([f"https://a.example/{n}/{n % 3}" for n in range(300)]))
    assert [set(loop.signatures) for loop in loops] == compiled
