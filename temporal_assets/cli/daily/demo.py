"""`temporal-assets demo`: a corpus with known truth, through the whole pipeline.

Here: the command. Not here: the corpus (the package `demo`), what is shown of it (`demo_summary`).
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_assets.cli.daily.demo_summary import show_summary, summarize
from temporal_assets.cli.evaluate.mirror import make as make_mirror
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.building import build, outcome_report, show_outcome
from temporal_assets.cli.shared.console import counted, place
from temporal_assets.cli.shared.days import day_option
from temporal_assets.cli.shared.exits import FAILED, USAGE, CommandError, command
from temporal_assets.cli.shared.landing import gives_nothing, land, show_troubles
from temporal_assets.cli.shared.options import Json, State, settings_of
from temporal_assets.cli.shared.precompile import precompiling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from temporal_assets.demo.options import DemoOptions
    from temporal_assets.operate.outcome import Outcome
    from temporal_assets.settings import Settings


@command
def run(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Where the corpus goes; the folder `demo` of the state folder by default.",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    size: Annotated[
        str, typer.Option(help="small (a minute), medium (12 million lines) or paper (600).")
    ] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds give equal logs.")] = 1,
    days: Annotated[
        int | None,
        typer.Option(min=1, help="Days of the corpus; 60 by default.", show_default=False),
    ] = None,
    until: Annotated[
        dt.date | None,
        day_option(
            "--until",
            "Last day of the corpus; yesterday by default, or that of the demo that is there.",
        ),
    ] = None,
    requests: Annotated[
        int | None,
        typer.Option(
            min=1, help="Log lines in all, in place of those of --size.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a demo corpus, read it, build every day, and show what came out."""
    from temporal_assets.cli.sources.sources import add_sources
    from temporal_assets.demo import generate
    from temporal_assets.landing.inventory import Inventory

    settings = settings_of(state)
    target = (folder or settings.state / "demo").absolute()
    options = _until(_options(size, seed, days, requests), until or _last_day(target))
    _refuse_mixing(settings, target)
    _refuse_another_demo(settings, target, options)
    settings.make_state()
    console.say(f"Writing {counted(options.days, 'day')} of access logs to {place(target)}")
    with precompiling():
        with console.progress_bar("Writing", None) as bar:
            corpus = generate(
                options, target, lambda what, done, total: bar.at(done, total, f"Writing {what}")
            )
        settings = _with_own(add_sources(settings, corpus.sources), corpus.truth)
        console.say(f"Reading {corpus.lines:,} log lines")
        landing = land(settings)
        show_troubles(landing)
        links = target / "mirror" / "links.parquet"
        if links.exists():
            console.say("Storing the mirror of its sites")
            make_mirror(settings, [links])
        built = Inventory.load(settings).days()
        console.say(f"Building {counted(len(built), 'day')}")
        outcome = _built(settings, built)
    summary = summarize(settings)
    if as_json:
        console.write_json({**outcome_report(built, outcome), "summary": summary})
    else:
        show_outcome(outcome)
        show_summary(settings, summary, corpus.truth)
    if gives_nothing(settings) or not outcome.ok:
        raise typer.Exit(FAILED)


def _built(settings: Settings, days: Sequence[dt.date]) -> Outcome:
    """Build the days, then earlier windows to learn lists from, and then the latest window.

    The report of the latest window judges those earlier lists, that is, out of time.
    """
    from temporal_assets.cli.evaluate.lists import make_earlier
    from temporal_assets.days.asset_names import DAILY_ASSETS
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.registry import STEP_NAMES

    daily = build(settings, days, DAILY_ASSETS)
    if not daily.ok or not days:
        return daily
    make_earlier(settings, Store.open(settings), days[-1], is_expected=False)
    return daily.then(build(settings, (), (), STEP_NAMES))


def _with_own(settings: Settings, truth: Mapping[str, Path]) -> Settings:
    """Use the corpus's list and annotated pages, unless the settings name others, and one key.

    Its visitors are invented, and a key that changes on a day of the calendar would let the same
    seed give other numbers on other days.
    """
    from temporal_assets.cli.sources.settings_file import set_values

    own: dict[str, dict[str, Any]] = {}
    if settings.baseline.path is None:
        own["baseline"] = {"path": str(truth["baseline"])}
    if settings.calibration.annotated is None:
        own["calibration"] = {"annotated": str(truth["annotated"])}
    if "rotation_days" not in settings.privacy.model_fields_set:
        own["privacy"] = {"rotation_days": 0}
    return set_values(settings, own)


def _options(size: str, seed: int, days: int | None, requests: int | None) -> DemoOptions:
    from temporal_assets.demo.options import DemoOptions

    options: dict[str, Any] = {"seed": seed, "days": days, "requests": requests}
    try:
        return DemoOptions.preset(size, **{k: v for k, v in options.items() if v is not None})
    except ValueError as error:
        raise CommandError(str(error), USAGE) from None


def _until(options: DemoOptions, last: dt.date) -> DemoOptions:
    """Return the options of the same corpus, ending with a day."""
    return replace(options, first_day=last - dt.timedelta(options.days - 1))


def _last_day(target: Path) -> dt.date:
    """Return the last day of the existing corpus, so that the same command continues it.

    Without one it is yesterday: today is not over, and partitions of Dagster are whole days.
    """
    from temporal_assets.demo.corpus import MARKER

    marker = target / MARKER
    if not marker.exists():
        return dt.datetime.now(dt.UTC).date() - dt.timedelta(1)
    corpus = json.loads(marker.read_text("utf-8"))
    return dt.date.fromisoformat(corpus["first_day"]) + dt.timedelta(corpus["days"] - 1)


def _refuse_mixing(settings: Settings, target: Path) -> None:
    """Refuse to add invented visitors to real ones."""
    real = [
        source.path for source in settings.sources if not Path(source.path).is_relative_to(target)
    ]
    if real:
        raise CommandError(
            f"{settings.state} has log sources of its own ({real[0]}), and the demo would be mixed "
            "with them: give the demo a state folder with --state",
            USAGE,
        )


def _refuse_another_demo(settings: Settings, target: Path, options: DemoOptions) -> None:
    """Refuse a second demo: what was read of the first would stay among its requests."""
    from temporal_assets.demo.corpus import MARKER
    from temporal_assets.landing.inventory import Inventory

    marker, inventory = target / MARKER, Inventory.load(settings)
    if not marker.exists() or not (inventory.files or inventory.damaged):
        return
    asked = json.loads(json.dumps(asdict(replace(options, workers=None)), default=str))
    if json.loads(marker.read_text("utf-8")) != asked:
        raise CommandError(
            f"{settings.state} holds a demo with other options: give this one a state folder of "
            "its own with --state, or delete the old one",
            USAGE,
        )
