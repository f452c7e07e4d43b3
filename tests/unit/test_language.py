"""Docstrings are sentences, names say the thing, modules and functions have one idea each.

How to write is in docs/testing.md; here is what can be held mechanically. Limits only go down.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FRAGMENT = re.compile(
    r"(What|Which|Of|One|Who|Those|Whether|Where|How|When|In|By|As|From|For|That|Nothing|And|Not)\b"
)
"""Words with which a docstring begins that needs its name, or the code, to be understood."""

MOST = 0.01
"""Share of docstrings that may begin so."""


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of docstrings, also of those below constants and fields."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if text := ast.get_docstring(node):
                yield node.body[0].lineno, text
            for field, below in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(field, (ast.Assign, ast.AnnAssign))
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                    and isinstance(below.value.value, str)
                ):
                    yield below.lineno, below.value.value.strip()


@pytest.mark.parametrize("folder", ["temporal_assets", "tests", "benchmarks", ".ci"])
def test_docstrings_are_no_fragments(repository: Path, folder: str) -> None:
    actual = [
        (f"{path.relative_to(repository)}:{line}", text.partition("\n")[0])
        for path in sorted((repository / folder).rglob("*.py"))
        for line, text in docstrings(ast.parse(path.read_text("utf-8")))
    ]
    fragments = [(place, text) for place, text in actual if FRAGMENT.match(text)]
    assert len(fragments) <= MOST * len(actual), fragments


def test_fragments_are_found() -> None:
    tree = ast.parse('"""Whether it is."""\nx = 1\n"""Number of it."""\n')
    assert [bool(FRAGMENT.match(text)) for _, text in docstrings(tree)] == [True, False]


MODULE_LINES = 560
"""Lines of a module at most: a longer one holds several ideas, and is several modules."""

LONG_MODULES = {"landing/reading.py": 900}
"""Modules that are still longer, and how long they are at most."""

FUNCTION_LINES = 60
"""Lines of a function's code at most, without its signature and docstring: a screen."""

UNEXPLAINED_LINES = 8
"""Lines of code from which on a function has a docstring."""

MOST_UNEXPLAINED = 31
"""Functions of the package that are so long and have none."""

PARAMETERS = 8
"""Positional parameters of a function at most; more of them are a structure without a name."""

LOOP_PARAMETERS = 14
"""The same for compiled loops, which take every array by itself."""

LOOPS = {"exact", "inlined", "kernel", "leaf", "loop", "making", "making_part", "numbers", "part"}
"""Decorators of compiled loops (`core.numerics.compiled`)."""

WEAK_NAMES = {"found", "given", "known", "made", "one", "ones", "said", "taken", "told"}
"""Names of variables that say nothing of what they hold."""

MOST_WEAK_NAMES = 36
"""Variables and parameters of the package that still have such a name."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(repository: Path) -> Iterator[tuple[str, Function, set[str]]]:
    """Yield (place, function, names of its decorators) of the package."""
    for path in sorted((repository / "temporal_assets").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, Function):
                decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
                yield f"{path.relative_to(repository)}:{node.lineno} {node.name}", node, decorators


def test_modules_have_one_idea(repository: Path) -> None:
    package = repository / "temporal_assets"
    sizes = {
        str(path.relative_to(package)): len(path.read_text("utf-8").splitlines())
        for path in package.rglob("*.py")
    }
    assert LONG_MODULES.keys() <= sizes.keys()
    limits = {name: LONG_MODULES.get(name, MODULE_LINES) for name in sizes}
    assert {name: size for name, size in sizes.items() if size > limits[name]} == {}


def code_lines(function: Function) -> int:
    """Return the lines of a function without its signature and docstring."""
    code = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - code[0].lineno + 1 if code else 0


def test_functions_fit_on_a_screen(repository: Path) -> None:
    lines = {place: code_lines(function) for place, function, _ in functions(repository)}
    assert {place: count for place, count in lines.items() if count > FUNCTION_LINES} == {}


def test_longer_functions_say_what_they_do(repository: Path) -> None:
    unexplained = [
        place
        for place, function, decorators in functions(repository)
        if code_lines(function) >= UNEXPLAINED_LINES
        and not ast.get_docstring(function)
        and not function.name.startswith("__")
        and not decorators  # Dagster takes docstrings for descriptions
    ]
    assert len(unexplained) <= MOST_UNEXPLAINED, unexplained


def test_many_parameters_are_a_structure(repository: Path) -> None:
    many = {}
    for place, function, decorators in functions(repository):
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        count = len(names) - (names[:1] in (["self"], ["cls"]))
        # The options of a command are its parameters.
        limit = LOOP_PARAMETERS if decorators & LOOPS else PARAMETERS
        if count > limit and "command" not in decorators:
            many[place] = count
    assert many == {}


def test_names_say_the_thing(repository: Path) -> None:
    weak = [
        f"{path.relative_to(repository)}:{node.lineno} {name}"
        for path in sorted((repository / "temporal_assets").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        if (name := node.arg if isinstance(node, ast.arg) else node.id).strip("_") in WEAK_NAMES
    ]
    assert len(weak) <= MOST_WEAK_NAMES, weak
