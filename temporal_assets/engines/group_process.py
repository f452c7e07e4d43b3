"""A process of its own for groups of rows: one that hangs, crashes or grows harms nobody.

Here: both ends of it. This process starts `python -m temporal_assets.engines.group_process`, sends
it the kernel once and then the path of one parcel after another; it answers each group with a line.
Not here: which groups there are and in what order (`groups`).

The limits are the operating system's: an alarm that ends a process which takes too long for a
group, and a bound on its memory. They hold also when this process is gone.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import pyarrow as pa

from temporal_assets import same_python
from temporal_assets.engines.base import GroupKernel, GroupLimits

LEARNED: Final = "learned"
FAILED: Final = "failed"
TIMED_OUT: Final = "timed_out"
OUT_OF_MEMORY: Final = "out_of_memory"

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file of Arrow rows that holds some groups, each whole."""

    path: Path
    batches: tuple[int, ...]
    """For each group, how many record batches it has; they follow one another."""

    def rows_of(self, group: int, file: pa.RecordBatchFileReader) -> pa.Table:
        """The rows of a group."""
        first = sum(self.batches[:group])
        numbers = range(first, first + self.batches[group])
        return pa.Table.from_batches([file.get_batch(number) for number in numbers])


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a group, or why there is none."""

    result: pa.RecordBatch | None
    status: str = LEARNED
    reason: str = ""
    """What happened, without a word of the data."""


def run_here(kernel: GroupKernel, parcel: Parcel, first: int = 0) -> Iterator[Outcome]:
    """Run a kernel in this process over groups from the `first` on; errors are outcomes."""
    with pa.memory_map(str(parcel.path)) as source:
        file = pa.ipc.open_file(source)
        for group in range(first, len(parcel.batches)):
            yield _run(kernel, parcel.rows_of(group, file))


def _run(kernel: GroupKernel, rows: pa.Table) -> Outcome:
    try:
        return Outcome(kernel(rows))
    except MemoryError:
        return Outcome(None, OUT_OF_MEMORY, "it needs more memory than there is")
    except Exception as error:
        return Outcome(None, FAILED, _where(error))


def _where(error: Exception) -> str:
    """The kind and the place of an error. Its message may quote a URL."""
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
    """The end that sends groups. Used by one thread at a time; started when it is first needed."""

    def __init__(self, kernel: GroupKernel, limits: GroupLimits) -> None:
        self._limits = limits
        self._kernel = pickle.dumps(kernel)
        self._running: _Running | None = None

    def run(self, parcel: Parcel) -> list[Outcome]:
        """Run the kernel over a parcel; a process that dies of a group is replaced for the next."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(parcel.batches):
            outcomes += self._run_from(len(outcomes), parcel)
        return outcomes

    def _run_from(self, first: int, parcel: Parcel) -> list[Outcome]:
        """Outcomes of the groups from the `first` on, up to one that ends the process."""
        running = self._running or self._start()
        answered = parcel.path.with_suffix(".results")
        task = {
            "path": str(parcel.path),
            "batches": parcel.batches,
            "first": first,
            "results": str(answered),
            "seconds": self._limits.seconds,
        }
        said = list(_conversation(running, task, len(parcel.batches) - first))
        outcomes = _outcomes(said, answered)
        if first + len(said) < len(parcel.batches):
            self._running = None
            outcomes.append(self._died(running.process))
        return outcomes

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            self._running.process.kill()
            self._running.process.communicate()
            self._running = None

    def _start(self) -> _Running:
        process = subprocess.Popen(  # noqa: S603 - this module
            same_python.command("temporal_assets.engines.group_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=same_python.environment(),
        )
        running = _Running(
            process, cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        )
        header = {"kernel_bytes": len(self._kernel), "memory_mib": self._limits.memory_mib}
        running.tasks.write(json.dumps(header).encode() + b"\n" + self._kernel)
        running.tasks.flush()
        self._running = running
        return running

    def _died(self, process: subprocess.Popen[bytes]) -> Outcome:
        process.communicate()
        number = -process.returncode
        if number == signal.SIGALRM:
            return Outcome(
                None, TIMED_OUT, f"it takes longer than {self._limits.seconds:g} seconds"
            )
        if number == signal.SIGKILL:
            return Outcome(None, OUT_OF_MEMORY, "the system ended the process, mostly for memory")
        return Outcome(None, FAILED, f"the process ended with status {process.returncode}")


def _conversation(
    running: _Running, task: dict[str, object], groups: int
) -> Iterator[dict[str, str]]:
    """Send a task; an answer for each group, as long as the process lives."""
    try:
        running.tasks.write(json.dumps(task).encode() + b"\n")
        running.tasks.flush()
    except BrokenPipeError:
        return
    for _ in range(groups):
        line = running.answers.readline()
        if not line.endswith(b"\n"):
            return
        yield json.loads(line)


def _outcomes(said: list[dict[str, str]], results: Path) -> list[Outcome]:
    """What a process said of some groups, with the results it wrote. Removes the file."""
    learned = sum(answer["status"] == LEARNED for answer in said)
    batches: list[pa.RecordBatch] = []
    if learned:
        with pa.OSFile(str(results)) as source:
            # A stream can be read up to where the process was ended.
            stream = pa.ipc.open_stream(source)
            batches = [stream.read_next_batch() for _ in range(learned)]
    results.unlink(missing_ok=True)
    written = iter(batches)
    return [
        Outcome(next(written))
        if answer["status"] == LEARNED
        else Outcome(None, answer["status"], answer["reason"])
        for answer in said
    ]


def main() -> None:
    """The end that runs the kernel, until there are no more tasks."""
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    header = json.loads(tasks.readline())
    kernel: GroupKernel = pickle.loads(tasks.read(header["kernel_bytes"]))  # noqa: S301 - our own
    _bound_memory(header["memory_mib"])
    for line in tasks:
        task = json.loads(line)
        parcel = Parcel(Path(task["path"]), tuple(task["batches"]))
        # The default action of the alarm ends the process wherever it is, compiled loops included.
        signal.setitimer(signal.ITIMER_REAL, task["seconds"])
        with pa.OSFile(task["results"], "wb") as results:
            for outcome in _written(run_here(kernel, parcel, task["first"]), results):
                said = {"status": outcome.status, "reason": outcome.reason}
                answers.write(json.dumps(said).encode() + b"\n")
                answers.flush()
                signal.setitimer(signal.ITIMER_REAL, task["seconds"])
            signal.setitimer(signal.ITIMER_REAL, 0)


def _written(outcomes: Iterator[Outcome], results: pa.NativeFile) -> Iterator[Outcome]:
    """Outcomes, each once its result is in the file."""
    stream: pa.RecordBatchStreamWriter | None = None
    for outcome in outcomes:
        if outcome.result is not None:
            stream = stream or pa.ipc.new_stream(results, outcome.result.schema)
            stream.write_batch(outcome.result)
        yield outcome


def _bound_memory(mib: int) -> None:
    """Allow so much memory beyond what the program itself takes."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _in_use() + mib * _MIB
    if hard == resource.RLIM_INFINITY or wanted <= hard:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _in_use() -> int:
    """Bytes of data that the process has asked for so far, where the system tells."""
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return 0
    return int(statistics.read_text().split()[5]) * resource.getpagesize()


if __name__ == "__main__":
    main()
