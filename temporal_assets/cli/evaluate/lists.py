"""`temporal-assets evaluate`: the list in use against what the logs say.

Here: the command. Not here: trials and measures (`windows.evaluation.trials`,
`windows.evaluation.seed_evaluation`, `windows.evaluation.hub_evaluation`), what is shown
(`evaluation_report`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import ranges
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    check_given,
    check_results,
    existing_settings,
)
from temporal_assets.cli.shared.windows import Day, require_days, window_day

if TYPE_CHECKING:
    import datetime as dt

    from temporal_assets.logs.tables.site_lists import SiteList
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

MADE: Final = (
    *("page_labels", "hub_seeds", "site_scores", "section_scores", "news_prefixes", "crawl_policy"),
)
"""Assets that are judged or that lists are learned from; making them makes all they are made
from."""


@command
def run(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="LIST",
            help="The list in use: a host or URL on each line. Without it that of the settings"
            " (`baseline.path`).",
            show_default=False,
        ),
    ] = None,
    state: State = None,
    day: Day = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write tables and plots as a page."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare the list in use with sites, sections, prefixes and hubs learned from the logs.

    In sample as in the papers, and out of time: lists made from an earlier window, judged by
    pages born after it. Earlier windows that are missing are made first; nothing else is published.
    """
    from temporal_assets.cli.reports import evaluation_report as report
    from temporal_assets.storage.store import Store

    settings = existing_settings(state)
    check_given(file)
    check_results(html)
    if file is not None:
        own = settings.baseline.model_copy(update={"path": file.absolute()})
        settings = settings.model_copy(update={"baseline": own})
    listed = _listed(settings)
    store = Store.open(settings)
    chosen = window_day(store, settings, "page_labels", day)
    require_days(store, settings, chosen)
    make_earlier(settings, store, chosen)
    lists, hubs = _judged(settings, store, chosen, listed)
    if html is not None:
        html.write_text(report.html(chosen, listed, lists, hubs), "utf-8")
    if as_json:
        bad = [] if listed is None else listed.bad
        console.write_json({"day": chosen, "bad_lines": bad, "lists": lists, "hubs": hubs})
    else:
        report.show(listed, lists, hubs)


def _listed(settings: Settings) -> SiteList | None:
    """Return the list in use, with a warning where there is none."""
    from temporal_assets.windows.evaluation.trials import baseline

    listed = baseline(settings)
    if listed is None:
        console.warn(
            "no list in use is known (name a file, or set `baseline.path`): only lists learned from"
            " the logs are compared"
        )
    elif not listed.urls:
        raise CommandError("the list names neither a host nor a URL")
    return listed


def make_earlier(
    settings: Settings,
    store: Store,
    day: dt.date,
    assets: Sequence[str] = MADE,
    *,
    is_expected: bool = True,
) -> None:
    """Make the windows that lists are learned from, where the logs reach back far enough.

    Where they do not, it says so if somebody expects it.
    """
    from temporal_assets.cli.shared.building import build
    from temporal_assets.windows.frame.asset import learned_days
    from temporal_assets.windows.registry import is_short

    past = learned_days(settings, day).values()
    missing = [
        earlier_day
        for earlier_day in past
        if any(store.manifest(name, earlier_day) is None for name in assets)
    ]
    short = [
        earlier_day
        for earlier_day in missing
        if store.manifest("page_views", earlier_day) is None
        or is_short(store, settings, earlier_day)
    ]
    if short and is_expected:
        console.warn(
            f"too few days of logs to learn lists on {ranges(short)}: those horizons are not judged"
        )
    wanted = [earlier_day for earlier_day in missing if earlier_day not in short]
    if wanted:
        console.say(f"Building the windows of {ranges(wanted)}, to learn from")
        outcome = build(settings, wanted, assets)
        if not outcome.ok:
            raise CommandError("the earlier windows cannot be made: temporal-assets status")


def _judged(
    settings: Settings, store: Store, day: dt.date, listed: SiteList | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of both evaluations on a day."""
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.windows.evaluation import hub_evaluation, seed_evaluation
    from temporal_assets.windows.evaluation.trials import sample_of
    from temporal_assets.windows.frame.asset import job_of

    engine = engine_of(settings)
    rows_of_parts: list[list[dict[str, Any]]] = []
    for part, asset in (
        (seed_evaluation, seed_evaluation.SEED_EVALUATION),
        (hub_evaluation, hub_evaluation.HUB_EVALUATION),
    ):
        with store.scratch() as scratch:
            job = job_of(store, engine, settings, asset, day, scratch)
            if not rows_of_parts:
                _tell_of_sample(sample_of(job).share)
            rows_of_parts.append(part.judge(job, listed))
    return rows_of_parts[0], rows_of_parts[1]


def _tell_of_sample(share: float) -> None:
    if share < 1:
        console.warn(
            f"lists are judged by a sample of {share:.1%} of the sites: all have more pages with"
            " labels than fit into memory"
        )
