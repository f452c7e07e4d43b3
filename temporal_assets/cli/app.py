"""The commands by name, and what belongs to none of them. Not here: what a command does."""

from __future__ import annotations

from typing import Annotated

import typer

from temporal_assets import __version__
from temporal_assets.cli import (
    calibrate,
    changes,
    clean,
    console,
    crawl,
    demo,
    doctor,
    evaluate,
    explain,
    export,
    ingest,
    labels,
    match,
    materialize,
    mirror,
    patterns,
    policy,
    query,
    report,
    simulate,
    status,
    tree,
    tune,
    ui,
    upgrade,
    what_if,
)

app = typer.Typer(
    name="temporal-assets",
    help="Learn from access logs what a crawler should watch.",
    epilog="Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would show log lines, and addresses with them.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for name, body in (
    ("demo", demo.run),
    ("ingest", ingest.run),
    ("materialize", materialize.run),
    ("status", status.run),
    ("query", query.run),
    ("labels", labels.run),
    ("explain", explain.run),
    ("patterns", patterns.run),
    ("evaluate", evaluate.run),
    ("report", report.run),
    ("calibrate", calibrate.run),
    ("changes", changes.run),
    ("tree", tree.run),
    ("tune", tune.run),
    ("what-if", what_if.run),
    ("policy", policy.run),
    ("match", match.run),
    ("export", export.run),
    ("crawl", crawl.run),
    ("mirror", mirror.run),
    ("simulate", simulate.run),
    ("ui", ui.run),
    ("clean", clean.run),
    ("upgrade", upgrade.run),
    ("doctor", doctor.run),
):
    app.command(name)(body)


def _show_version(wanted: bool) -> None:
    if wanted:
        console.write(f"temporal-assets {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Learn from access logs what a crawler should watch."""
