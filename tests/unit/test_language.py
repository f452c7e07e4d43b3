"""Docstrings are sentences or name a thing: none merely completes the name above it.

How to write is in docs/testing.md; here is what can be held mechanically.
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
