"""Loops are compiled ahead for the types of their calls, and found where they were brought."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from temporal_assets.core.curves import curves
from temporal_assets.core.patterns.syntax import node_division, tree_builder
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


BUILDING = """
import sys
from importlib import import_module
allowed = set(sys.argv[1].split())
class Nothing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in allowed and top not in sys.stdlib_module_names and top[0] != "_":
            raise ImportError(name)
sys.meta_path.insert(0, Nothing())
from temporal_assets.machine.compile_ahead import listed
for name in listed():
    import_module(name)
"""
"""Imports the modules of listed loops where nothing else is installed than some packages."""


def test_a_wheel_is_built_with_all_that_modules_of_loops_import(repository: Path) -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", repository / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    needed, new = set[str](), set(hook.NEEDED)
    while new := new - needed:
        needed |= new
        lines = [line for name in new for line in requires(name) or () if "extra ==" not in line]
        new = {canonicalize_name(Requirement(line).name) for line in lines}
    allowed = [
        module
        for module, owners in packages_distributions().items()
        if {canonicalize_name(owner) for owner in owners} & needed
    ]
    allowed += ["temporal_assets", *(name.replace("-", "_") for name in needed)]
    command = [sys.executable, "-c", BUILDING, " ".join(allowed)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_compiled_ahead_is_what_is_called_later() -> None:
    loops = (curves._fit_rows, node_division._partition)
    for loop in loops:
        compile_ahead.compile_module(loop.__module__)
    compiled = [set(loop.signatures) for loop in loops]
    assert all(compiled)
    curves.fit(np.ones((3, 60), np.int32))
    tree_builder.pattern_tree(texts([f"https://a.example/{n}/{n % 3}" for n in range(300)]))
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
    source.write_text(LOOP.replace("x + y", "x - y + 0"), "utf-8")  # of another size
    assert _loaded(source, monkeypatch).add(1, 2) == -1


def _loaded(source: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("some_loop", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "some_loop", module)
    spec.loader.exec_module(module)
    return module
