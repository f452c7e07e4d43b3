"""Import of packages that an extra of `pyproject.toml` brings.

Where they are not installed, the error is a sentence that says how to install them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(Exception):
    """Error: an optional package is not installed; the message says how to install it."""


@contextmanager
def extra(name: str, purpose: str) -> Iterator[None]:
    """Context for imports of an extra's packages. Raises `MissingExtra` if one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{purpose} needs {error.name}: pip install -c requirements.lock '.[{name}]' in the"
            " checkout"
        ) from None
