"""Ends of commands: exit codes, and errors that are answers rather than faults of the program.

    0    done; also when there was nothing to do, and for a server or a crawl that somebody ended
    1    the data or an operation failed: nothing of a source is usable, a day failed, a check is
         broken. What is wrong with a part (one bad file among many) is a warning
    2    the command was called wrongly
    130  interrupted with Ctrl-C, or told to end (SIGTERM)

An expected error is shown as one sentence that says what to do. Anything else keeps its
traceback: it is a fault of ours and worth a report.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from threading import Timer
from typing import Any, Final, ParamSpec

import typer

from temporal_assets.cli.shared import console

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

_ENDING: Final = frozenset((signal.SIGINT, signal.SIGTERM))

_AGAIN_SECONDS: Final = 0.1

_asked: list[Callable[[], bool]] = []
"""Function that returns True if this command should end; unset outside of a command."""

Parameters = ParamSpec("Parameters")


class CommandError(Exception):
    """Error that ends a command; the message says why, and what to do."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def command(body: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn expected errors, Ctrl-C and SIGTERM into a message and an exit code."""

    @wraps(body)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            with interruptions() as interrupted:
                try:
                    body(*args, **kwargs)
                except BaseException:  # Dagster's own kind of an interruption is no Exception
                    if interrupted():
                        raise KeyboardInterrupt from None
                    raise
        except BrokenPipeError:
            raise  # the reader of our output has left; typer ends quietly
        except CommandError as error:
            console.fail(str(error))
            raise typer.Exit(error.code) from None
        except Exception as error:
            sentence = explained(error)
            if sentence is None:
                raise
            console.fail(sentence)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            console.say(
                "\nStopped. What is published is whole; the same command goes on from here."
            )
            raise typer.Exit(INTERRUPTED) from None

    return run


@contextmanager
def interruptions() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns True once Ctrl-C was pressed, whoever handled the signal.

    Libraries treat Ctrl-C in their own way: to DuckDB it is a query that failed, to Dagster a run
    that failed, and work would go on with the next day. Python notes every signal here. SIGTERM, by
    which service managers and containers end a command, does what Ctrl-C does. Nested calls share
    the function.
    """
    if _asked:
        yield _asked[0]
        return
    seen, note = socket.socketpair()
    for end in (seen, note):
        end.setblocking(False)
    before = signal.set_wakeup_fd(note.fileno(), warn_on_full_buffer=False)
    # Not the handler of Ctrl-C, which is ignored where a shell started us in the background.
    ending = signal.signal(signal.SIGTERM, signal.default_int_handler)

    def interrupted() -> bool:
        # Looked at, not taken: a handler may raise before what was taken is kept.
        with suppress(BlockingIOError):
            return not _ENDING.isdisjoint(seen.recv(4096, socket.MSG_PEEK))
        return False

    _asked.append(interrupted)
    unraisable = sys.unraisablehook
    sys.unraisablehook = partial(_asked_again, unraisable)
    try:
        yield interrupted
    finally:
        _asked.clear()
        sys.unraisablehook = unraisable
        signal.signal(signal.SIGTERM, ending)
        signal.set_wakeup_fd(before)
        seen.close()
        note.close()


def _asked_again(otherwise: Callable[[Any], object], unraisable: Any) -> None:
    """Raise Ctrl-C again, in a moment, where it came within a callback that cannot raise it.

    The compiler of numerical loops calls back for seconds, and the command would go on.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        again = Timer(_AGAIN_SECONDS, _end)
        again.daemon = True
        again.start()
    else:
        otherwise(unraisable)


def _end() -> None:
    if _asked:  # otherwise the command has ended meanwhile
        os.kill(os.getpid(), signal.SIGTERM)


def explained(error: Exception) -> str | None:
    """Return the message for an expected error, or None for a fault of the program."""
    # Imported only now: what there is to say must not slow down what goes well.
    from temporal_assets.machine.error_sentences import sentence_of

    return sentence_of(error) or (_sentence(error) if isinstance(error, _expected()) else None)


def _expected() -> tuple[type[Exception], ...]:
    """Return the errors whose message suffices for users, without a traceback."""
    # Imported only now: --help must not wait for the engine.
    from filelock import Timeout

    from temporal_assets.crawl.mirror.mirror import NoMirror
    from temporal_assets.days.day_inputs import NoLogs
    from temporal_assets.days.rejects import TooManyRejects
    from temporal_assets.engines.base import EngineError
    from temporal_assets.logs.privacy.key_periods import KeyFileError
    from temporal_assets.machine.extras import MissingExtra
    from temporal_assets.settings import SettingsError
    from temporal_assets.storage.integrity import DamagedFile
    from temporal_assets.storage.partition_errors import MissingPartition
    from temporal_assets.windows.frame.asset import StaleTable

    return (
        DamagedFile,
        EngineError,
        KeyFileError,
        MissingExtra,
        MissingPartition,
        NoLogs,
        NoMirror,
        OSError,
        SettingsError,
        StaleTable,
        Timeout,
        TooManyRejects,
    )


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
