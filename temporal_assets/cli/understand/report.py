"""`temporal-assets report`: everything the papers report, on the data at hand, as one page.

Here: the command. Not here: what is in the report (`windows.report.evaluation_report`), how it
looks (`reports.report_page`).
"""

from __future__ import annotations

import datetime as dt
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from temporal_assets.cli.evaluate.lists import make_earlier
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import State, existing_settings, invocation
from temporal_assets.cli.shared.windows import Day
from temporal_assets.machine.durable import replace_text

if TYPE_CHECKING:
    from temporal_assets.reports.document import Report
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

_ASSET: Final = "evaluation_report"


@command
def run(
    state: State = None,
    day: Day = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where the page goes; report/evaluation-DAY.html of the state folder by default.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the same numbers as JSON; - prints it."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    earlier: Annotated[
        bool,
        typer.Option(
            "--earlier/--no-earlier",
            help="First make the earlier windows that lists are learned on, to judge them out of"
            " time.",
        ),
    ] = True,
) -> None:
    """Write the evaluation report: the tables and figures of the three papers on these logs.

    One HTML page that needs no network. What is missing or out of date is made first.
    """
    from temporal_assets.reports.document import as_json as written
    from temporal_assets.reports.report_page import page
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.report.evaluation_report import (
        page_of_day,
        read_report,
        write_page,
    )

    settings = existing_settings(state)
    store = Store.open(settings)
    chosen = _day(settings, store, day)
    _bring_up_to_date(settings, store, chosen, earlier=earlier)
    report = read_report(store, chosen)
    if as_json is not None:
        _write(as_json, written(report))
    if as_json is not None and out is None and not show:
        return
    target = out or page_of_day(settings, chosen)
    if out is None:
        write_page(settings, target.name, page(report))
    else:
        _write(target, page(report))
    if str(target) == "-":
        return
    _tell(report, target)
    if show and not webbrowser.open(target.absolute().as_uri()):
        console.warn("no browser was found; open the file yourself")


def _day(settings: Settings, store: Store, day: dt.date | None) -> dt.date:
    """Return the last day of the window to report on. Raises `CommandError` if there is none."""
    from temporal_assets.windows.frame.standing import days_in_words, days_there
    from temporal_assets.windows.frame.window_end import LATEST_OF, window_end
    from temporal_assets.windows.registry import is_short

    days, end = store.days(LATEST_OF), window_end(store, settings)
    if end is None:
        build = invocation("ingest PATH", settings.state)
        raise CommandError(f"no day has been built yet: {build}, then materialize")
    chosen = day or end.day
    if chosen not in days:
        raise CommandError(f"there is no day {chosen}; there are {days[0]} to {days[-1]}")
    if is_short(store, settings, chosen):
        long_enough = (
            candidate for candidate in reversed(days) if not is_short(store, settings, candidate)
        )
        earlier = next(long_enough, None)
        again = f"report --day {earlier}" if earlier else "ingest PATH"
        raise CommandError(
            f"no report of {chosen} yet."
            f" {days_in_words(days_there(store, settings, chosen), settings.window.min_days)}"
            f" {'The last day with enough' if earlier else 'Read more days'}:"
            f" {invocation(again, settings.state)}"
        )
    return chosen


def _bring_up_to_date(settings: Settings, store: Store, day: dt.date, *, earlier: bool) -> None:
    """Build what is stale on the day; on older days only what was never built."""
    from temporal_assets.cli.shared.building import build
    from temporal_assets.operate.materializing import finish
    from temporal_assets.windows.frame.window_end import window_end
    from temporal_assets.windows.registry import needed, stale

    finish(settings)  # a report that was published may wait to be judged
    end = window_end(store, settings)
    is_latest = end is not None and day == end.day
    if store.manifest(_ASSET, day) is not None and not is_latest:
        return
    if earlier:
        # An earlier list of sites as well: to see what has come and gone since.
        make_earlier(settings, store, day)
    if _ASSET not in stale(store, settings, day):
        return
    wanted = needed(store, settings, [_ASSET], [day])
    console.say(f"Building {console.counted(len(wanted), 'table')} of the window up to {day}")
    if not build(settings, [day], wanted).ok:
        raise CommandError(f"the report of {day} cannot be made: temporal-assets status")


def _write(target: Path, content: str) -> None:
    """Write the page into a file as a whole, or into a pipe."""
    if str(target) == "-":
        console.write(content)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and not target.is_file():
        target.write_text(content, "utf-8")  # a pipe or a device
    else:
        replace_text(target.resolve(), content)


def _tell(report: Report, target: Path) -> None:
    """Say what is in the report, and what is missing and why."""
    missing = [section for section in report.sections if section.missing]
    section_count = len(report.sections) - len(missing)
    size = target.stat().st_size / 1e6
    console.say(
        f"{console.counted(section_count, 'section')}, {size:.1f} MB: {console.place(target)}"
    )
    for section in missing:
        console.say(f"  {section.source or section.title}: {section.missing}")
