"""`temporal-assets explore`: from sites to folders to patterns to pages, in a browser.

Here: the command. Not here: what is shown (`explorer`).
"""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import State, check_results, existing_settings
from temporal_assets.cli.shared.windows import Day


@command
def run(
    state: State = None,
    day: Day = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 3002,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write one static file with the first sites instead of serving all of them.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Explore sites, folders, patterns and pages in a browser, and why each URL is fetched.

    Serves on this machine only; Ctrl-C ends it.
    """
    from temporal_assets.cli.explorer.rows import Window
    from temporal_assets.cli.explorer.server import serve
    from temporal_assets.cli.explorer.static import one_file
    from temporal_assets.cli.shared.precompile import precompiling

    check_results(out)
    window = Window(existing_settings(state), day)
    if out is not None:
        out.write_text(one_file(window), "utf-8")
        console.say(f"The explorer is in {console.place(out)}")
        if show:
            webbrowser.open(out.absolute().as_uri())
        return
    try:
        server = serve(window, port)
    except OSError as error:
        raise CommandError(
            f"port {port} cannot be used ({error.strerror}): choose another with --port"
        ) from None
    # Compiled when it is first used on a machine: not while somebody waits for a page.
    with precompiling():
        window.decision(f"http://127.0.0.1:{port}/")
    address = f"http://127.0.0.1:{server.server_port}"
    console.say(f"{address} (window up to {window.day}; Ctrl-C ends it)")
    if show:
        webbrowser.open(address)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            console.say("the explorer has ended")
