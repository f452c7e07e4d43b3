"""Sections that are folders of a year, a month or a day.

Here: their names. Not here: what follows from it (`prefix_tree`), dates in patterns
(`value_shapes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import numpy as np

from temporal_assets.core.numerics.arrays import Flags

_YEAR: Final = "(?:19|20)[0-9]{2}"
_MONTH: Final = "(?:0[1-9]|1[0-2])"
_DAY: Final = "(?:0[1-9]|[12][0-9]|3[01])"
_NAMED: Final = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"

_DATED: Final = re.compile(
    f"/(?:{_YEAR}-?{_MONTH}(?:-?{_DAY})?"
    f"|{_YEAR}(?:/(?:{_MONTH}|[1-9]|{_NAMED})(?:/(?:{_DAY}|[1-9]))?)?)/\\Z",
    re.IGNORECASE,
)
"""A day or month in one segment (2026-03-14, 202603), or a year and what follows it."""

_YEARLY: Final = re.compile(f"/{_YEAR}/\\Z")


def passing_sections(names: Iterable[str]) -> Flags:
    """Return flags of the folders of a month or a day: soon they get no new pages."""
    return np.array(
        [_DATED.search(name) is not None and _YEARLY.search(name) is None for name in names],
        np.bool_,
    )


def dated_sections(names: Iterable[str]) -> Flags:
    """Return flags of the sections that are folders of a date, like `a.example/2026/03/14/`."""
    return np.array([_DATED.search(name) is not None for name in names], np.bool_)
