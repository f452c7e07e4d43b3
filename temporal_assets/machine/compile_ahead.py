"""Compilation of loops before they are called, from a list of the types they are called with.

Here: the list (`compile_ahead.json`), how it is written from what a demo compiled, and the
compilation of all of it. Not here: its callers (the build of a wheel, in `hatch_build.py`; a first
run, in `cli.shared.precompile`), and how loops are compiled and kept (`core.numerics.compiled`).

After a change of loops, write the list again:

    export NUMBA_CACHE_DIR=$(mktemp -d)
    temporal-assets demo --state ...
    python -m temporal_assets.machine.compile_ahead --record
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

LIST: Final = Path(__file__).with_suffix(".json")
"""File with the modules, their loops, and the types of the arguments of each call."""
_PACKAGE: Final = Path(__file__).parents[1]
_USES: Final = ("numerics.compiled import", "import compiled")
"""Imports of decorators by which a module with compiled loops is recognised."""
_ARRAY: Final = re.compile(r"(readonly )?array\((\w+), (\d)d, ([AC])\)")


def compile_module(name: str) -> None:
    """Compile the listed loops of a module and store them on disk.

    Modules that cannot be imported are skipped: a wheel is built without most packages. So are
    loops whose arguments have changed since the list was written: they are compiled when called.
    """
    from numba.core.errors import NumbaError

    for loop, types in _loops(name):
        with suppress(NumbaError, TypeError):
            loop.compile(types)


def compile_all(workers: int) -> None:
    """Compile all that is listed, in parallel processes.

    Two processes that write the index of one loop at the same time may lose an entry. So whatever
    is missing at the end is compiled by this process.
    """
    if workers > 1:
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            pool.map(compile_module, listed(), chunksize=1)
    for name in listed():
        if not is_compiled(name):
            compile_module(name)


def is_compiled(name: str) -> bool:
    """Return True if all listed loops of a module are on disk for this processor."""
    return all(loop._cache.holds(loop.targetctx, types) for loop, types in _loops(name))


def _loops(name: str) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield each listed loop of a module with argument types, once per listed call."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        return
    for loop, calls in listed()[name].items():
        for arguments in calls if hasattr(module, loop) else ():
            yield getattr(module, loop), _types(arguments)


@cache
def listed() -> dict[str, dict[str, list[Any]]]:
    """Return the list: by module and loop, the argument types of each call."""
    return json.loads(LIST.read_text("utf-8"))  # type: ignore[no-any-return]


def record() -> dict[str, dict[str, list[Any]]]:
    """Return the list of all loops in the disk cache, without those that only loops call."""
    modules = {}
    for name, module in _modules():
        loops = {}
        for loop, dispatcher in sorted(vars(module).items()):
            if getattr(getattr(dispatcher, "py_func", None), "__module__", "") == name:
                calls = sorted(_compiled_calls(dispatcher), key=str)
                if calls:
                    loops[loop] = calls
        if loops:
            modules[name] = loops
    return modules


def _modules() -> Iterator[tuple[str, Any]]:
    """Yield the name of each module of the package that has loops, and the module."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        code = path.read_text("utf-8")
        if any(use in code for use in _USES):
            parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            yield name, importlib.import_module(name)


def _compiled_calls(dispatcher: Any) -> Iterator[list[Any]]:
    """Yield the argument types of each call in the disk cache; none of inner loops."""
    if dispatcher.targetoptions.get("no_cpython_wrapper"):
        return
    for arguments in dispatcher._cache.argument_types():
        if "Literal" not in str(arguments):  # called by another loop, which compiles it
            yield [_text(kind) for kind in arguments]


def _text(kind: Any) -> Any:
    """Return a type of numba as JSON: tuples as lists, named tuples with their class."""
    from numba import types

    is_tuple: bool = isinstance(kind, types.BaseTuple)
    if not is_tuple:
        return str(kind)
    parts = [_text(part) for part in kind.types]
    named = getattr(kind, "instance_class", None)
    return {f"{named.__module__}:{named.__qualname__}": parts} if named else parts


def _types(arguments: list[Any]) -> tuple[Any, ...]:
    return tuple(_type(argument) for argument in arguments)


def _type(text: Any) -> Any:
    """Return the numba type of what `_text` returned."""
    from numba import types

    tuples: Any = types.BaseTuple
    arrays: Any = types.Array
    if isinstance(text, list):
        return tuples.from_types(_types(text))
    if isinstance(text, dict):
        [(path, kinds)] = text.items()
        module, _, name = path.partition(":")
        return tuples.from_types(_types(kinds), getattr(importlib.import_module(module), name))
    if array := _ARRAY.fullmatch(text):
        fixed, kind, dimensions, layout = array.groups()
        return arrays(_type(kind), int(dimensions), layout, readonly=bool(fixed))
    return types.boolean if text == "bool" else getattr(types, text)


def main() -> None:
    """Compile all listed loops, or write the list of those compiled."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--record", action="store_true", help="write the list from the cache")
    parser.add_argument("--workers", type=int, default=1, help="processes; one by default")
    options = parser.parse_args()
    if options.record:
        LIST.write_text(_lines(record()), "utf-8")
    else:
        compile_all(options.workers)


def _lines(modules: dict[str, dict[str, list[Any]]]) -> str:
    """Return the list as JSON with a line for each loop, so that a change is one line."""
    blocks = [
        f" {json.dumps(name)}: {{\n"
        + ",\n".join(f"  {json.dumps(loop)}: {json.dumps(calls)}" for loop, calls in loops.items())
        + "\n }"
        for name, loops in modules.items()
    ]
    return "{\n" + ",\n".join(blocks) + "\n}\n"


if __name__ == "__main__":
    main()
