"""Loops are compiled ahead for the types of their calls, and found where they were brought."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest

from temporal_assets.core.curves import curves
from temporal_assets.core.patterns import pattern_tree
from temporal_assets.core.text.texts import texts
from temporal_assets.machine import compile_ahead

LOOP = """
from temporal_assets.core.numerics.compiled import loop

@loop
def add(x, y):
    return x + y
"""


def test_listed_loops_take_as_many_arguments_as_are_listed() -> None:
    for name, loops in compile_ahead.listed().items():
        module = importlib.import_module(name)
        for loop, calls in loops.items():
            expected = len(inspect.signature(getattr(module, loop).py_func).parameters)
            assert {len(arguments) for arguments in calls} == {expected}, f"{name}.{loop}"
            for arguments in calls:
                types = compile_ahead._types(arguments)
                assert [compile_ahead._text(kind) for kind in types] == arguments


def test_what_is_compiled_ahead_is_what_is_called_later() -> None:
    loops = (curves._fit_rows, pattern_tree._partition)
    for loop in loops:
        compile_ahead.compile_module(loop.__module__)
    compiled = [set(loop.signatures) for loop in loops]
    assert all(compiled)
    curves.fit(np.ones((3, 60), np.int32))
    pattern_tree.pattern_tree(texts([f"https://a.example/{n}/{n % 3}" for n in range(300)]))
    assert [set(loop.signatures) for loop in loops] == compiled


def test_loops_beside_the_code_are_found_where_others_are_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "some_loop.py"
    source.write_text(LOOP, "utf-8")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert _loaded(source, monkeypatch).add(1, 2) == 3
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(elsewhere))
    again = _loaded(source, monkeypatch)
    assert again.add(1, 2) == 3
    assert not list(elsewhere.rglob("*.nbc"))
    assert again.add(1.0, 2.0) == 3.0  # of other types, which were not brought
    assert len(list(elsewhere.rglob("*.nbc"))) == 1
    source.write_text(LOOP.replace("x + y", "x - y"), "utf-8")
    assert _loaded(source, monkeypatch).add(1, 2) == -1


def _loaded(source: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("some_loop", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "some_loop", module)
    spec.loader.exec_module(module)
    return module
