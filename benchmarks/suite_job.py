"""Line of the benchmark suite: the same job done by us and by what a user would pick.

Here: the shapes, the sizes and the timing of one way. Not here: the jobs (`suite_logs`,
`suite_windows`, `suite_links`, `suite_lists`, `suite_graphs`, `suite_urls`), which there are
(`suite_lines`).

A way is set up first (imports, compiled loops, input in memory where the job begins there), and
only the job is timed.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Done = tuple[int, Any] | tuple[int, Any, float]
"""Items that were worked on, an answer that all ways of the line share (or None), and the seconds
where not all of the job counts."""
Job = Callable[[], Done]
Setup = Callable[[Path, str], Job]
"""Function that prepares a way from the folder of the inputs and the size."""
Input = Callable[[Path, str], None]
"""Writes what jobs read into a folder."""

Check = Callable[[Path, str], None]
"""Stops where the ways of a line have made different tables."""

SIZES: Final = ("small", "medium", "paper")
Sized = dict[str, int]

ENOUGH_SECONDS: Final = 60.0
"""Seconds of a way's repeats together: what takes longer is not repeated."""

SHORT_SECONDS: Final = 2.0
"""Least seconds of a way's repeats: the median of three that take milliseconds is chance."""

MOST_REPEATS: Final = 30
"""Enough for a median, however short a job is."""


@dataclass(frozen=True, slots=True)
class Line:
    """Job with its ways, the first of which is ours."""

    title: str
    items: str
    ways: dict[str, Setup]
    needs: dict[str, str]
    """Modules, or programs with `!`, that a way needs."""
    inputs: tuple[Input, ...] = ()
    check: Check | None = None
    """Check of what the ways have left: not in the process of one, whose memory is measured."""
    compared: tuple[str, ...] = ()
    """Ways that `check` compares with ours; all where it names none."""
    parts: dict[str, str] = field(default_factory=dict)
    """Our ways of parts of the job, by the ways that do such a part and are compared with them."""


def timed(job: Job, repeats: int) -> dict[str, Any]:
    """Wall and processor seconds of every repeat, and the peak memory of the process."""
    seconds: list[float] = []
    processor: list[float] = []
    items, answer = 0, None
    while wants_more(seconds, repeats):
        worked, started = _processor_seconds(), time.perf_counter()
        items, answer, *counted = job()
        seconds.append(counted[0] if counted else time.perf_counter() - started)
        if not counted:
            processor.append(_processor_seconds() - worked)
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "items": items,
        "answer": answer,
        "peak_mib": max(usage.ru_maxrss for usage in used) / 1024,
    }


def spread(seconds: Sequence[float]) -> float:
    """Return the distance of the quartiles of the runs, over the median."""
    first, median, third = statistics.quantiles(seconds, method="inclusive")
    return (third - first) / median


def wants_more(seconds: Sequence[float], repeats: int) -> bool:
    """Return whether a way is to run again, after runs of so many seconds each."""
    if len(seconds) < repeats:
        return sum(seconds) < ENOUGH_SECONDS
    return sum(seconds) < SHORT_SECONDS and len(seconds) < MOST_REPEATS


def same_rows(
    theirs: Path, ours: Sequence[str], key: str | list[str], without: Sequence[str] = ()
) -> None:
    """Stop unless both say the same of every row, in all columns of ours but those of `without`."""
    import pandas as pd
    import pyarrow.parquet as pq

    left, right = (pq.read_table(files, partitioning=None) for files in (theirs, list(ours)))
    names = [name for name in right.column_names if name not in without]
    order = [(name, "ascending") for name in ([key] if isinstance(key, str) else key)]
    both = [table.select(names).sort_by(order).to_pandas() for table in (left, right)]
    pd.testing.assert_frame_equal(*both, check_dtype=False, rtol=1e-6)


def _processor_seconds() -> float:
    """Return processor seconds of this process and of those it has called and waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
