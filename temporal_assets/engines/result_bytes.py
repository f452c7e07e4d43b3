"""The result of a function, or the error it raised, as bytes for another process.

Here: the bytes that travel. Not here: how they do (`spark`, `landing.reading_process`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from temporal_assets.engines.base import Item, Result


def outcome_of(function: Callable[[Item], Result], item: Item) -> bytes:
    """Call a function and return its result or error as bytes.

    Errors are results here, because frameworks would retry or reword an error.
    """
    try:
        return pickle.dumps((False, function(item)))
    except Exception as error:
        return pickle.dumps((True, error))


def result_of(outcome: bytes) -> Any:
    """Return what the function returned; raises what it raised."""
    is_error, result = pickle.loads(outcome)  # noqa: S301 - from processes that run what we send
    if is_error:
        raise result
    return result
