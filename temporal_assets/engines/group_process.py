"""A process of its own for groups of rows: one that hangs, crashes or grows harms nobody.

Here: both ends of it. This process starts `python -m temporal_assets.engines.group_process`, sends
it the kernel once and then the path of one file after another; it answers each with a line. Not
here: which groups there are and in what order (`groups`).

The limits are the operating system's: an alarm that ends a process which takes too long, and a
bound on its memory. They hold also when this process is gone.
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
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import pyarrow as pa

from temporal_assets.engines.base import GroupKernel, GroupLimits

LEARNED: Final = "learned"
FAILED: Final = "failed"
TIMED_OUT: Final = "timed_out"
OUT_OF_MEMORY: Final = "out_of_memory"

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a group, or why there is none."""

    result: pa.RecordBatch | None
    status: str = LEARNED
    reason: str = ""
    """What happened, without a word of the data."""


def run_here(kernel: GroupKernel, path: Path) -> Outcome:
    """Run a kernel in this process; its errors are outcomes."""
    try:
        with pa.memory_map(str(path)) as source:
            return Outcome(kernel(pa.ipc.open_file(source).read_all()))
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

    def run(self, path: Path) -> Outcome:
        """Run the kernel over a file; a process that dies of it is replaced by the next call."""
        running = self._running or self._start()
        answered = path.with_suffix(".result")
        task = {"path": str(path), "result": str(answered), "seconds": self._limits.seconds}
        try:
            running.tasks.write(json.dumps(task).encode() + b"\n")
            running.tasks.flush()
            line = running.answers.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            self._running = None
            return self._died(running.process)
        answer = json.loads(line)
        if answer["status"] != LEARNED:
            return Outcome(None, answer["status"], answer["reason"])
        with pa.OSFile(str(answered)) as source:
            (batch,) = pa.ipc.open_file(source).read_all().combine_chunks().to_batches() or [None]
        answered.unlink()
        return Outcome(batch)

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            self._running.process.kill()
            self._running.process.communicate()
            self._running = None

    def _start(self) -> _Running:
        # The package may be found through the path of this process alone.
        paths = os.pathsep.join(path for path in sys.path if path)
        process = subprocess.Popen(
            [sys.executable, "-m", "temporal_assets.engines.group_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": paths},
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


def main() -> None:
    """The end that runs the kernel, until there are no more tasks."""
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    header = json.loads(tasks.readline())
    kernel: GroupKernel = pickle.loads(tasks.read(header["kernel_bytes"]))  # noqa: S301 - our own
    _bound_memory(header["memory_mib"])
    for line in tasks:
        _answer(kernel, json.loads(line), answers)


def _answer(kernel: GroupKernel, task: dict[str, object], answers: BinaryIO) -> None:
    # The default action of the alarm ends the process wherever it is, compiled loops included.
    signal.setitimer(signal.ITIMER_REAL, float(str(task["seconds"])))
    outcome = run_here(kernel, Path(str(task["path"])))
    if outcome.result is not None:
        with pa.ipc.new_file(str(task["result"]), outcome.result.schema) as sink:
            sink.write_batch(outcome.result)
    signal.setitimer(signal.ITIMER_REAL, 0)
    said = {"status": outcome.status, "reason": outcome.reason}
    answers.write(json.dumps(said).encode() + b"\n")
    answers.flush()


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
