"""How loops over bytes are compiled.

Here: the decorators of the log reader's hot loops and the byte constants they share. Not here:
the loops (`tokenize`, `times`, `rewrite`).

The cache on disk knows when the file of a loop changes, not when that of a part does: after work on
a part in another file, remove `temporal_assets/logs/__pycache__`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np
from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def _byte(value: int) -> int:
    """A constant that is a number like any other to the compiler.

    Of a part that is given a plain 10 it makes a variant for 10.
    """
    return cast("int", np.int64(value))


NEWLINE: Final = _byte(10)
RETURN: Final = _byte(13)
TAB: Final = _byte(9)
SPACE: Final = _byte(32)
QUOTE: Final = _byte(34)
HASH: Final = _byte(35)
PERCENT: Final = _byte(37)
PLUS: Final = _byte(43)
COMMA: Final = _byte(44)
MINUS: Final = _byte(45)
DOT: Final = _byte(46)
SLASH: Final = _byte(47)
ZERO: Final = _byte(48)
NINE: Final = _byte(57)
COLON: Final = _byte(58)
QUESTION: Final = _byte(63)
OPEN: Final = _byte(91)
BACKSLASH: Final = _byte(92)
CLOSE: Final = _byte(93)
BRACE: Final = _byte(123)
UNBRACE: Final = _byte(125)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over the lines of a block.

    Without the interpreter lock, so that threads read blocks in parallel, and cached on disk, so
    that only the first run on a machine waits for the compiler.
    """
    compiled: Callable[P, R] = njit(nogil=True, cache=True)(function)
    return compiled


_PART: Final[dict[str, Any]] = {
    "nogil": True,
    "cache": True,
    "forceinline": True,
    "_nrt": False,  # numba's run time, which counts references
    "no_cfunc_wrapper": True,  # for callers in C, of which there are none
}


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of such a loop into it.

    A call costs more than what a part does for one line: arrays are passed as seven numbers each,
    and their references are counted. A part makes no arrays (the compiler says so if it does), so
    it need not count; that alone halves the time of a line.
    """
    compiled: Callable[P, R] = njit(**_PART)(function)
    return compiled
