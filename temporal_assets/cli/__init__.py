"""The command line: one module per command, thin over what the rest of the package does.

Importing a command costs next to nothing, so that `--help` and a mistyped option answer at
once: what needs Dagster, DuckDB or numba is imported inside the command that uses it.
"""

from __future__ import annotations

import signal
import sys

from temporal_assets.machine.memory import keep_memory


def main() -> None:
    """Entry point of `temporal-assets` and of `python -m temporal_assets`."""
    try:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a character gets its escape rather than a traceback.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        keep_memory()
        from temporal_assets.cli.app import app

        app()
    except KeyboardInterrupt:
        # Between the commands' own handling: while modules load.
        raise SystemExit(130) from None
    finally:
        # Python has nothing to do any more but to end: Ctrl-C then ends it at once, as it does
        # programs that do not handle it, and nothing shows where it was.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
