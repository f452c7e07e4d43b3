"""Worker processes that read log files, because threads of one process wait for each other.

Cleaning is partly Python, and one thread at a time runs that: two threads read 1.2 times as fast as
one. Processes share nothing but files. This process is one of the workers: it has imported what the
others have to import first.

Here: both ends of a worker. This end starts `python -m` this module and sends it one file after
another, and the options where these have changed; it answers with its progress, and then with the
result. Not here: reading (`reading`), and which files are read so (`landing`).
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import BinaryIO, Final, Protocol, cast

from temporal_assets.engines.base import EngineError
from temporal_assets.engines.result_bytes import outcome_of, result_of
from temporal_assets.landing.reading import LogReader, Progress, Read, ReadApart, ordered
from temporal_assets.landing.source_files import Pending
from temporal_assets.logs.read.objects import LogPath
from temporal_assets.machine import child_process

_MODULE: Final = "temporal_assets.landing.reading_process"

_Answer = tuple[int, int] | bytes
"""Bytes of the file read so far and its size, or the outcome."""


class _Place(Protocol):
    """Protocol of a worker that reads files, one after another."""

    def read(self, read: ReadApart, item: Pending, progress: Progress) -> Read: ...
    def close(self) -> None: ...


class ReadingProcesses:
    """This process and other workers, each started on first use."""

    def __init__(self, count: int, progress: Progress) -> None:
        self._count = count
        self._progress = progress
        self._turn = Lock()
        self._all: list[_Place] = [_ThisProcess()]
        self._idle = self._all.copy()

    def close(self) -> None:
        """End the workers; unfinished readings are lost."""
        for place in self._all:
            place.close()

    def spread(self, read: ReadApart, items: Iterable[Pending]) -> Iterator[Read]:
        """Yield the results of the items, in order."""
        with ThreadPoolExecutor(self._count) as pool:
            try:
                yield from ordered(pool, partial(self._read, read), items, self._count)
            except BaseException:
                # Nobody wants what is still being read: without this its end is waited for.
                self.close()
                raise

    def _read(self, read: ReadApart, item: Pending) -> Read:
        with self._turn:
            place = self._idle.pop() if self._idle else self._new()
        try:
            return place.read(read, item, self._advance)
        finally:
            with self._turn:
                self._idle.append(place)

    def _new(self) -> _Place:
        process = _ReadingProcess()
        self._all.append(process)
        return process

    def _advance(self, path: LogPath, done: int, total: int) -> None:
        with self._turn:
            self._progress(path, done, total)


class EndedError(Exception):
    """Error: the reading was cancelled."""


class _ThisProcess:
    """Worker in this process, used by one thread at a time."""

    def __init__(self) -> None:
        self._knows: ReadApart | None = None
        self._reader: LogReader | None = None
        self._ended = False

    def read(self, read: ReadApart, item: Pending, progress: Progress) -> Read:
        """Read a file."""

        def advance(path: LogPath, done: int, total: int) -> None:
            if self._ended:
                raise EndedError
            progress(path, done, total)

        if self._reader is None or read is not self._knows:
            self._knows, self._reader = read, read.reader()
        self._reader.progress = advance
        return _reads(self._reader)(item)

    def close(self) -> None:
        """End the reading at its next block: a thread cannot be killed."""
        self._ended = True


class _ReadingProcess:
    """Parent's end of a worker process, used by one thread at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this module
            child_process.command(_MODULE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_process.environment(),
        )
        self._tasks = cast("BinaryIO", self._process.stdin)
        self._answers = cast("BinaryIO", self._process.stdout)
        self._knows: ReadApart | None = None

    def read(self, read: ReadApart, item: Pending, progress: Progress) -> Read:
        """Send a file to the worker and return the result."""
        try:
            pickle.dump((None if read is self._knows else read, item), self._tasks)
            self._tasks.flush()
            self._knows = read
            while not isinstance(answer := self._answer(), bytes):
                progress(item.path, *answer)
        except (BrokenPipeError, EOFError, pickle.UnpicklingError, ValueError):
            raise EngineError(
                f"the process that read {item.path} was ended from outside, mostly for memory:"
                " lower `engine.threads`, and run it again"
            ) from None
        result: Read = result_of(answer)
        return result

    def _answer(self) -> _Answer:
        answer: _Answer = pickle.load(self._answers)  # noqa: S301 - our own process
        return answer

    def close(self) -> None:
        """End the process; an unfinished reading is lost."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._tasks, self._answers):
            with suppress(OSError):
                pipe.close()


def main() -> None:
    """Read files in the worker process, until there are no more."""
    # Ctrl-C comes to all of a terminal's processes, and the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def say(answer: _Answer) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    reader: LogReader | None = None
    with suppress(BrokenPipeError):  # the one that started this one is gone
        while (task := _task(tasks)) is not None:
            read, item = task
            if read is not None or reader is None:
                reader = cast("ReadApart", read).reader(lambda _, done, size: say((done, size)))
            say(outcome_of(_reads(reader), item))


def _task(tasks: BinaryIO) -> tuple[ReadApart | None, Pending] | None:
    try:
        task: tuple[ReadApart | None, Pending] = pickle.load(tasks)  # noqa: S301 - our own
    except EOFError:
        return None
    return task


def _reads(reader: LogReader) -> Callable[[Pending], Read]:
    return lambda item: (reader.read(item), reader.keys.made)


if __name__ == "__main__":
    main()
