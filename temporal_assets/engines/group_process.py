"""A separate process for groups of rows, so that a hang, crash or growth harms nobody.

Here: both ends of it. This process starts `python -m temporal_assets.engines.group_process`, sends
it the kernel once and then the path of one parcel (a file with some groups) after another; it
answers each group with an empty line, and the parcel with the outcomes of its groups. Not here:
which groups there are, and in what order (`groups`).

The limits are the operating system's: an alarm that ends a process which takes too long for a
group, and a bound on its memory. They hold also when this process is gone.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import pyarrow as pa

from temporal_assets.engines.base import GroupKernel, GroupLimits
from temporal_assets.machine import child_process

FAILED: Final = "failed"
TIMED_OUT: Final = "timed_out"
OUT_OF_MEMORY: Final = "out_of_memory"

DONE: Final = ".done"
"""Ending of the names of files that may be written over."""

_DONE: Final = b"\n"
"""Answer for a finished group; the line behind them holds the outcomes of all."""

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file of Arrow rows that holds some complete groups."""

    path: Path
    groups: tuple[int, ...]
    """Number of rows of each group, in order."""

    @contextmanager
    def rows(self) -> Iterator[pa.Table]:
        """Yield the rows of all its groups, memory-mapped."""
        with pa.memory_map(str(self.path)) as source:
            yield pa.ipc.open_stream(source).read_all()

    def give_back(self) -> None:
        """Allow another parcel to overwrite the file, whose rows nobody uses any more."""
        self.path.rename(self.path.with_suffix(DONE))

    def cut(self, rows: pa.Table, groups: range) -> Iterator[pa.Table]:
        """Yield the rows of some groups, one group after the other."""
        start = sum(self.groups[: groups.start])
        for group in groups:
            yield rows.slice(start, self.groups[group])
            start += self.groups[group]


@dataclass(frozen=True, slots=True)
class Lost:
    """A group without result, and why."""

    group: int
    status: str
    reason: str
    """Reason, without any content of the data."""


Outcome: TypeAlias = pa.RecordBatch | Lost
"""Result of one group or of several consecutive ones, or a lost group."""


def run_here(kernel: GroupKernel, parcel: Parcel, groups: range) -> Iterator[Outcome]:
    """Run a kernel in this process over groups of a parcel; errors are outcomes."""
    with parcel.rows() as rows:
        for group, part in zip(groups, parcel.cut(rows, groups), strict=True):
            yield _run(kernel, group, part)


def joined(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yield the outcomes with neighbouring results joined into one batch.

    A thousand small batches take ten times the memory and the time of their rows.
    """
    for is_lost, some in groupby(outcomes, lambda outcome: isinstance(outcome, Lost)):
        if is_lost:
            yield from some
        else:
            yield pa.concat_batches(list(some))


def _run(kernel: GroupKernel, group: int, rows: pa.Table) -> Outcome:
    try:
        return kernel(rows)
    except MemoryError:
        return Lost(group, OUT_OF_MEMORY, "it needs more memory than there is")
    except Exception as error:
        return Lost(group, FAILED, _where(error))


def _where(error: Exception) -> str:
    """Return type and position of an error, without its message, which may quote a URL."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


@dataclass(frozen=True, slots=True)
class _Running:
    """A process and its two pipes."""

    process: subprocess.Popen[bytes]
    tasks: BinaryIO
    answers: BinaryIO


class GroupProcess:
    """Parent's end of the process; it is started on first use, and used by one thread at a time."""

    def __init__(self, kernel: GroupKernel, limits: GroupLimits) -> None:
        self._limits = limits
        self._kernel = pickle.dumps(kernel)
        self._running: _Running | None = None
        self._is_over = False

    def run(self, parcel: Parcel) -> list[Outcome]:
        """Run the kernel over a parcel; a process that dies is replaced for the next group.

        Results are written once all requested groups have theirs: groups before one that ended the
        process are run again. They are small: a large group is the last of its parcel.
        """
        outcomes: list[Outcome] = []
        ahead: list[range | Lost] = [range(len(parcel.groups))]
        while ahead:
            part = ahead.pop()
            if isinstance(part, Lost):
                outcomes.append(part)
            elif isinstance(lost := self._run(part, parcel), Lost):
                before, behind = range(part.start, lost.group), range(lost.group + 1, part.stop)
                ahead += [behind, lost, before]
            else:
                outcomes += lost
        return outcomes

    def _run(self, groups: range, parcel: Parcel) -> list[Outcome] | Lost:
        """Return the outcomes of the groups, or the group that ended the process."""
        if not groups or self._is_over:
            return []
        running = self._running or self._start()
        results = parcel.path.with_suffix(".results")
        task = {
            "path": str(parcel.path),
            "groups": parcel.groups,
            "start": groups.start,
            "stop": groups.stop,
            "results": str(results),
            "seconds": self._limits.seconds,
        }
        done, lost = _conversation(running, task)
        if lost is None:
            self._running = None
            results.unlink(missing_ok=True)
            # One that ends while it writes was ended by the last.
            return self._died(running.process, min(groups.start + done, groups.stop - 1))
        return _outcomes(lost, results)

    def end(self) -> None:
        """Kill the process, even while another thread waits for its answer."""
        self._is_over = True
        if running := self._running:
            running.process.kill()

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            self._running.process.kill()
            self._running.process.communicate()
            self._running = None

    def _start(self) -> _Running:
        """Start a process, and send it the kernel and the limits."""
        process = subprocess.Popen(  # noqa: S603 - this module
            child_process.command("temporal_assets.engines.group_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_process.environment(),
        )
        running = _Running(
            process, cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        )
        header = {"kernel_bytes": len(self._kernel), "memory_mib": self._limits.memory_mib}
        running.tasks.write(json.dumps(header).encode() + b"\n" + self._kernel)
        running.tasks.flush()
        self._running = running
        if self._is_over:  # since it was asked for
            process.kill()
        return running

    def _died(self, process: subprocess.Popen[bytes], group: int) -> Lost:
        """Return why a process ended while it worked on a group."""
        process.communicate()
        number = -process.returncode
        if number == signal.SIGALRM:
            return Lost(group, TIMED_OUT, f"it takes longer than {self._limits.seconds:g} seconds")
        if number == signal.SIGKILL:
            why = "the system ended the process, mostly for memory"
            return Lost(group, OUT_OF_MEMORY, why)
        return Lost(group, FAILED, f"the process ended with status {process.returncode}")


_Losses = list[dict[str, Any] | None]
"""Outcomes in order: the fields of a lost group, or None for a result."""


def _conversation(running: _Running, task: dict[str, object]) -> tuple[int, _Losses | None]:
    """Return the number of finished groups and their outcomes, unless the process died."""
    done = 0
    try:
        running.tasks.write(json.dumps(task).encode() + b"\n")
        running.tasks.flush()
    except BrokenPipeError:
        return done, None
    while (line := running.answers.readline()).endswith(b"\n"):
        if line != _DONE:
            lost: _Losses = json.loads(line)
            return done, lost
        done += 1
    return done, None


def _outcomes(losses: _Losses, results: Path) -> list[Outcome]:
    """Return the outcomes that a process reported, with the results it wrote; remove the file."""
    with pa.OSFile(str(results)) as source:
        written: Iterator[pa.RecordBatch] = iter(
            pa.ipc.open_stream(source) if None in losses else ()
        )
        outcomes = [next(written) if lost is None else Lost(**lost) for lost in losses]
    results.unlink()
    return outcomes


def main() -> None:
    """Run the kernel in the child process, until there are no more tasks."""
    # Ctrl-C comes to all of a terminal's processes, and the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    gc.disable()
    header = json.loads(tasks.readline())
    kernel: GroupKernel = pickle.loads(tasks.read(header["kernel_bytes"]))  # noqa: S301 - our own
    _bound_memory(header["memory_mib"])
    with suppress(BrokenPipeError):  # the one that started this one is gone
        for line in tasks:
            _answer(kernel, json.loads(line), answers)
            # What was imported and loaded for the first is no garbage, and is not searched for it.
            if not gc.isenabled():
                gc.freeze()
                gc.enable()


def _answer(kernel: GroupKernel, task: dict[str, Any], answers: BinaryIO) -> None:
    """Run the kernel over the groups of a task."""
    parcel = Parcel(Path(task["path"]), tuple(task["groups"]))
    # The default action of the alarm ends the process wherever it is, compiled loops included.
    signal.setitimer(signal.ITIMER_REAL, task["seconds"])
    outcomes: list[Outcome] = []
    for outcome in run_here(kernel, parcel, range(task["start"], task["stop"])):
        outcomes.append(outcome)
        answers.write(_DONE)
        answers.flush()
        signal.setitimer(signal.ITIMER_REAL, task["seconds"])
    lost = _write(joined(outcomes), task["results"])
    signal.setitimer(signal.ITIMER_REAL, 0)
    answers.write(json.dumps(lost).encode() + b"\n")
    answers.flush()


def _write(outcomes: Iterator[Outcome], path: str) -> _Losses:
    """Write the results to a file and return which outcomes they are."""
    lost: _Losses = []
    with ExitStack() as open_files:
        file = open_files.enter_context(pa.OSFile(path, "wb"))
        stream: pa.RecordBatchStreamWriter | None = None
        for outcome in outcomes:
            if isinstance(outcome, Lost):
                lost.append(asdict(outcome))
                continue
            stream = stream or open_files.enter_context(pa.ipc.new_stream(file, outcome.schema))
            stream.write_batch(outcome)
            lost.append(None)
    return lost


def _bound_memory(mib: int) -> None:
    """Limit the memory beyond what the program itself takes."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _in_use() + mib * _MIB
    if hard == resource.RLIM_INFINITY or wanted <= hard:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _in_use() -> int:
    """Return the bytes of memory that the process has allocated; 0 if the system does not tell."""
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return 0
    return int(statistics.read_text().split()[5]) * resource.getpagesize()


if __name__ == "__main__":
    main()
