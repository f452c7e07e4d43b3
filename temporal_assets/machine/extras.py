"""Packages that an extra of `pyproject.toml` brings: a sentence where they are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(Exception):
    """A package that only some need is not installed; the message says how to install it."""


@contextmanager
def extra(name: str, purpose: str) -> Iterator[None]:
    """Import what an extra brings within it. Raises `MissingExtra` where it is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{purpose} needs {error.name}: pip install -c requirements.lock '.[{name}]' in the"
            " checkout"
        ) from None
