"""The command line: one module per command, thin over what the rest of the package does.

Importing a command costs next to nothing, so that `--help` and a mistyped option answer at
once: what needs Dagster, DuckDB or numba is imported inside the command that uses it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress

from temporal_assets.machine.memory import collect_seldom, keep_memory


def main() -> None:
    """Entry point of `temporal-assets` and `python -m temporal_assets`; ends the process."""
    # Registered first, it runs after what other modules have to do at the end.
    codes: list[int] = []
    atexit.register(_end_at_once, codes)
    try:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a character gets its escape rather than a traceback.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        keep_memory()
        collect_seldom()
        from temporal_assets.cli.app import app

        app()
    except SystemExit as end:
        codes += [end.code] if isinstance(end.code, int) else []
        raise
    except KeyboardInterrupt:
        # Between the commands' own handling: while modules load.
        raise SystemExit(130) from None
    finally:
        # Python has nothing to do any more but to end: Ctrl-C then ends it at once, as it does
        # programs that do not handle it, and nothing shows where it was.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end_at_once(codes: list[int]) -> None:
    """End the process with an exit code, if there is one, without freeing its objects one by one.

    The half million objects of a run take a second. Files and databases are closed by now.
    """
    with suppress(OSError, ValueError):  # a reader of our output that has left: Python says so
        sys.stdout.flush()
        sys.stderr.flush()
        if codes:
            os._exit(codes[0])
