"""`temporal-assets try rules`: which weights, lengths and rules find most of what is new.

Here: the command and its tables. Not here: the pages (`windows.evaluation.tuning`), the grid
(`core.lists.list_tuning`).
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated, Any, Final

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import day_option
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import Json, State, existing_settings, invocation
from temporal_assets.cli.shared.windows import window_day

if TYPE_CHECKING:
    from temporal_assets.core.lists.list_tuning import PrefixTrial, SiteTrial
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.evaluation.tuning import Tuned

_JUDGED_DAYS: Final = 14
"""Number of days at the end of the window whose new pages judge; the very last have no labels
yet."""

_SHOWN: Final = 8
"""Rules of prefixes that are shown."""

_MEASURES: Final = ("precision", "recall", "F")


@command
def run(
    state: State = None,
    day: Annotated[
        dt.date | None,
        day_option("--day", "Last day of the window; that before the latest when none is given."),
    ] = None,
    learn_until: Annotated[
        dt.date | None,
        day_option(
            "--learn-until",
            "Pages born later judge; two weeks before the end of the window by default.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Try lists of sites and rules of prefixes by F, on an earlier window than the reported one.

    Lists are learned from pages born up to a day and judged by those born after it. The latest
    window is the one that is reported, and is refused.
    """
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.storage.store import Store
    from temporal_assets.windows.evaluation.tuning import NothingToTune, tune

    settings = existing_settings(state)
    store = Store.open(settings)
    chosen = _tuning_day(store, settings, day)
    until = learn_until or chosen - dt.timedelta(days=_JUDGED_DAYS)
    if until >= chosen:
        raise CommandError(f"--learn-until must be before {chosen}, the end of the window", USAGE)
    try:
        tuned = tune(store, engine_of(settings), settings, chosen, until)
    except NothingToTune as error:
        raise CommandError(str(error)) from None
    if as_json:
        console.write_json(_report(tuned))
    else:
        _show(tuned)


def _tuning_day(store: Store, settings: Settings, day: dt.date | None) -> dt.date:
    """Return the day of a window before the latest, on which nothing is reported."""
    latest = window_day(store, settings, "page_labels", None)
    earlier = [other_day for other_day in store.days("page_labels") if other_day < latest]
    if day == latest or (day is None and not earlier):
        before = latest - dt.timedelta(days=_JUDGED_DAYS)
        from temporal_assets.windows.frame.standing import days_there

        there, needed = days_there(store, settings, before), settings.window.min_days
        if there < needed:
            raise CommandError(
                f"the window up to {latest} is the one that is reported, and an earlier one, up to"
                f" {before}, has too few days yet: {there}, and {needed} are needed"
            )
        build = invocation(f"materialize page_labels --day {before}", settings.state)
        raise CommandError(
            f"the window up to {latest} is the one that is reported; tune on an earlier one,"
            f" made with: {build}"
        )
    return window_day(store, settings, "page_labels", day or earlier[-1])


def _report(tuned: Tuned) -> dict[str, Any]:
    """Return the outcome of all rules as JSON values, the best ones named."""
    from dataclasses import asdict

    from temporal_assets.core.lists.list_tuning import best_prefixes, best_sites

    report = asdict(tuned)
    for trial, row in zip(tuned.prefixes, report["prefixes"], strict=True):
        row["f"] = trial.outcome.f_measure
    best, rule = best_sites(tuned.sites), best_prefixes(tuned.prefixes)
    return report | {"best_sites": asdict(best), "best_prefixes": asdict(rule)}


def _show(tuned: Tuned) -> None:
    """Show the best rules for sites and prefixes, and the other ones tried."""
    from temporal_assets.core.lists.list_tuning import best_prefixes, best_sites

    console.write_sentences(
        f"Window up to {tuned.day}: learned from {tuned.learned_pages:,} pages born up to"
        f" {tuned.learned_until}, {tuned.born_pages:,} of them in the window (the flow),"
        f" judged by {tuned.judged_pages:,} born later"
    )
    best = best_sites(tuned.sites)
    console.show_table(
        "Sites, by flow and by alpha:beta of the stock, with the best K",
        ("rule", "alpha", "beta", "K", *_MEASURES, ""),
        [
            (
                *(*_weights(result), result.top_k, *_numbers(result)),
                _marks(best=result is best, in_use=result is tuned.sites[0]),
            )
            for result in tuned.sites
        ],
    )
    console.show_table(
        "The first K sites, by the additional weight of the page share, a factor of alpha",
        ("weight", "other sites", "views covered", *_MEASURES),
        [
            (result.weight, result.changed, result.views, *_numbers(result))
            for result in tuned.page_shares
        ],
    )
    in_use, paper, *_ = tuned.prefixes
    ranked = sorted(tuned.prefixes[2:], key=lambda result: -result.outcome.f_measure)
    rule = best_prefixes(tuned.prefixes)
    first = [rule, *(result for result in ranked if result is not rule)][:_SHOWN]
    console.show_table(
        f"Prefixes: the best {_SHOWN} of {len(ranked)} rules and that in use, and the plain share",
        ("rule", "threshold", "prefixes", "precision", "recall", "F", ""),
        [
            (
                *(result.kind, round(result.rule.threshold, 3), result.prefixes),
                *_numbers_of(
                    result.outcome.precision, result.outcome.recall, result.outcome.f_measure
                ),
                _marks(best=result is rule, in_use=result is in_use, paper=result is paper),
            )
            for result in (*first, *(result for result in (in_use, paper) if result not in first))
        ],
    )
    console.write_sentences(_advice(tuned, best, rule))


def _weights(trial: SiteTrial) -> tuple[str | float, ...]:
    """Return the name of a site ranking, with its weights if it is by the score."""
    if trial.scoring is None:
        return "flow", "", ""
    return "stock", trial.scoring.alpha, trial.scoring.beta


def _advice(tuned: Tuned, best: SiteTrial, rule: PrefixTrial) -> str:
    """Return lines for `settings.toml` with the choices that are better than those in use."""
    lines = []
    if best is not tuned.sites[0]:
        lines.append("[sites]")
        if best.scoring is None:
            lines.append('rule = "flow"')
        else:
            lines.append('rule = "confident"')
            lines.append(f"alpha = {best.scoring.alpha}")
        lines.append(f"top_k = {best.top_k}")
    if rule is not tuned.prefixes[0]:
        lines += ["[prefixes]", f'rule = "{rule.kind}"']
        lines.append(f"threshold = {round(rule.rule.threshold, 3)}")
    if not lines:
        return "Nothing that was tried is better than the settings in use."
    return "\n".join(["For settings.toml:", *lines])


def _marks(**marks: bool) -> str:
    return ", ".join(name.replace("_", " ") for name, holds in marks.items() if holds)


def _numbers(trial: Any) -> tuple[str, ...]:
    return _numbers_of(trial.precision, trial.recall, trial.f)


def _numbers_of(*shares: float) -> tuple[str, ...]:
    return tuple(f"{share:.3f}" for share in shares)
