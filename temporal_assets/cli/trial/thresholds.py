"""`temporal-assets try thresholds`: which thresholds label annotated pages best.

Here: the command. Not here: what it shows (`calibration_report`), reading the file
(`logs.tables.annotations`), the grid and the choice (`windows.labels.calibration`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    check_given,
    check_results,
    existing_settings,
    invocation,
)
from temporal_assets.cli.shared.windows import Day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporal_assets.logs.tables.annotations import Annotations
    from temporal_assets.settings import Settings
    from temporal_assets.windows.labels.annotated_pages import Found
    from temporal_assets.windows.labels.calibration import Choice

_Miss = Annotated[
    float | None, typer.Option(min=0, help="B: what a temporal page costs that is not labelled so.")
]
_FalseAlarm = Annotated[
    float | None,
    typer.Option(min=0, help="C: what a page costs that is wrongly labelled temporal."),
]


@command
def run(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="ANNOTATED.CSV",
            help="Annotated pages: URL and label (temporal or untemporal, 1 or 0). Without it the"
            " file of the settings (`calibration.annotated`).",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    day: Day = None,
    by: Annotated[
        str | None,
        typer.Option(help="none, site or section: thresholds of their own.", show_default=False),
    ] = None,
    miss_weight: _Miss = None,
    false_alarm_weight: _FalseAlarm = None,
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw the heat maps into a file.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write tables and heat maps as a page."),
    ] = None,
    as_json: Json = False,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Write into settings.toml that labels use the result."),
    ] = False,
) -> None:
    """Find the thresholds of labels that agree best with pages annotated by people.

    Performance is the pages labelled right, minus B times missed ones, minus C times false alarms;
    B and C are those of the settings unless given here. Nothing is published; `--adopt` changes
    settings.toml.
    """
    from temporal_assets.cli.reports import calibration_report as report
    from temporal_assets.reports.charts.picture import as_png
    from temporal_assets.reports.heat_map import as_block

    settings = _with_options(
        existing_settings(state),
        annotated=file.absolute() if file else None,
        by=by,
        miss_weight=miss_weight,
        false_alarm_weight=false_alarm_weight,
    )
    check_given(file)
    check_results(png, html)
    annotations = _annotations(settings)
    choices, looked_up, chosen_day = _calibrated(settings, annotations, day)
    maps = [report.heat_map_of(settings, choice) for choice in choices if choice.scope == "all"]
    if png is not None:
        png.write_bytes(as_png([as_block(choice, choice.title) for choice in maps]))
    if html is not None:
        page = report.html(settings, annotations, looked_up, choices, maps, chosen_day)
        html.write_text(page, "utf-8")
    if as_json:
        console.write_json(report.report(settings, annotations, looked_up, choices, chosen_day))
    else:
        report.show(settings, annotations, looked_up, choices, maps)
    if adopt:
        _adopt(settings, choices)


def _with_options(settings: Settings, **options: Any) -> Settings:
    """Return settings with the options of the command, validated like others."""
    from pydantic import ValidationError

    from temporal_assets.settings import Calibration

    values = settings.calibration.model_dump() | {k: v for k, v in options.items() if v is not None}
    try:
        calibration = Calibration(**values)
    except ValidationError as error:
        wrong = "; ".join(f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors())
        raise CommandError(wrong, USAGE) from None
    return settings.model_copy(update={"calibration": calibration})


def _annotations(settings: Settings) -> Annotations:
    """Return the annotated pages. Raises `CommandError` if none can be used."""
    from temporal_assets.cli.reports.calibration_report import bad_lines
    from temporal_assets.windows.labels.calibration import annotated

    annotations = annotated(settings)
    if annotations is None:
        raise CommandError(
            "no annotated pages: name a CSV file of URL and label, or set `calibration.annotated`",
            USAGE,
        )
    if not annotations.pages:
        line = f"; {bad_lines(annotations)[0]}" if annotations.bad else ""
        raise CommandError(f"the file names no page that could be used{line}")
    return annotations


def _calibrated(
    settings: Settings, annotations: Annotations, day: dt.date | None
) -> tuple[list[Choice], Found, dt.date]:
    """Return the best thresholds on a day, and the annotated pages that it has."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.frame.asset import job_of
    from temporal_assets.windows.labels.annotated_pages import look_up
    from temporal_assets.windows.labels.calibration import CALIBRATION, choose

    store = Store.open(settings)
    days = store.days("interest_curves")
    if not days:
        build = invocation("materialize", settings.state)
        raise CommandError(f"no window has been made yet: {build}")
    chosen = day or days[-1]
    with store.scratch() as scratch:
        job = job_of(store, engine_of(settings), settings, CALIBRATION, chosen, scratch)
        looked_up = look_up(job, annotations.pages)
        return choose(job, looked_up), looked_up, chosen


def _adopt(settings: Settings, choices: Sequence[Choice]) -> None:
    """Store the file, its weights and the best n in the settings, so that labels use them."""
    from temporal_assets.cli.sources.settings_file import set_values

    best = next(
        (choice for choice in choices if choice.score == "interest" and choice.scope == "all"), None
    )
    if best is None or best.used is None:
        raise CommandError("nothing is adopted: there are too few annotated pages of both kinds")
    own = settings.calibration
    set_values(
        settings,
        {
            "calibration": {
                "annotated": str(own.annotated),
                "by": own.by,
                "miss_weight": own.miss_weight,
                "false_alarm_weight": own.false_alarm_weight,
            },
            "labels": {"n": best.best.days, "thresholds": "calibrated"},
        },
    )
    build = invocation("materialize", settings.state)
    console.say(
        f"Adopted: n = {best.best.days:g}; q, m and p are chosen anew from the annotated pages with"
        f" every window. {build} makes the labels of the latest."
    )
