"""`temporal-assets evaluate crawls`: crawl the mirror under every order and compare (BB 5.3).

Here: the command and what it shows. Not here: the evaluation (`crawl.evaluation`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import day_option
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    check_given,
    check_results,
    existing_settings,
    invocation,
)
from temporal_assets.cli.shared.sites import named_site

if TYPE_CHECKING:
    import pyarrow as pa

    from temporal_assets.core.crawls.crawl_curves import CrawlCurve
    from temporal_assets.crawl.evaluation_results import Evaluation
    from temporal_assets.crawl.mirror.mirror import Mirror
    from temporal_assets.crawl.mirror.traffic import Learning
    from temporal_assets.reports.document import Chart
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store


_TITLES: Final = {
    "fetch": "Comprehensive fetch: traffic downloaded",
    "discovery": "Timely discovery: traffic seen",
}
"""Titles of the two scenarios."""


@command
def run(
    state: State = None,
    learn_until: Annotated[
        dt.date | None,
        day_option(
            "--learn-until",
            "Last day to learn on; later ones score. Half of the days when none is given.",
        ),
    ] = None,
    clicks: Annotated[
        Path | None,
        typer.Option(
            "--clicks",
            metavar="FILE",
            help="Score by clicks on search results instead: a CSV of URL and number.",
            show_default=False,
        ),
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option("--site", help="Only this site; may be repeated.", show_default=False),
    ] = None,
    together: Annotated[
        bool,
        typer.Option("--together", help="Crawl all sites as one, from all their home pages."),
    ] = False,
    per_host: Annotated[
        int | None,
        typer.Option(
            "--per-host",
            metavar="PAGES",
            min=1,
            help="At most so many pages of a host in every round of --round fetches; with"
            " --together. A delay of 10 s a host at 100 fetches a second is 1 page in 1000.",
            show_default=False,
        ),
    ] = None,
    round_of: Annotated[
        int, typer.Option("--round", metavar="FETCHES", min=1, help="Of --per-host.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the random order.")] = 1,
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FILE", help="Draw the curves into a file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Crawl the mirror from every site's home page, in every order, and compare them.

    Orders are learned from the transits of the earlier days and scored by those of the later.
    """
    from temporal_assets.crawl.evaluation import Politeness, evaluate, evaluate_together

    settings = existing_settings(state)
    check_given(clicks)
    check_results(png)
    mirror = _mirror(settings)
    site = [named_site(site_name) for site_name in site or ()]
    _check_options(mirror, site, together=together, has_delay=per_host is not None)
    learn, score = _periods(settings, learn_until, needs_later=clicks is None)
    learned, scored = _traffic(settings, site or mirror.sites, learn, score, clicks)
    polite = None if per_host is None else Politeness(per_host, round_of)
    with console.progress_bar("Crawling", None if together else len(mirror.sites)) as bar:
        if together:
            result = evaluate_together(mirror, learned, scored, polite, seed)
        else:
            result = evaluate(mirror, learned, scored, site, seed, bar.at)
    if not result.sites:
        reason = next(iter(result.skipped.values()), "there are no sites")
        raise CommandError(f"no site of the mirror can be judged: {reason}")
    by = f"clicks of {clicks.name}" if clicks else f"{score[0]} to {score[-1]}"
    period = {"learned": f"{learn[0]} to {learn[-1]}", "scored": by}
    if png is not None:
        _draw(result, period, png, together=together)
    if as_json:
        console.write_json(_report(result, period, _unnamed(settings, [*learn, *score])))
    else:
        _show(result, period)


def _check_options(
    mirror: Mirror, sites: Collection[str], *, together: bool, has_delay: bool
) -> None:
    """Raise `CommandError` if the mirror lacks a site, or if options contradict each other."""
    unknown = sorted(set(sites) - set(mirror.sites))
    if unknown:
        raise CommandError(f"{unknown[0]!r} is no site of the mirror", USAGE)
    if has_delay and not together:
        raise CommandError("--per-host needs --together: a site crawled alone is one host", USAGE)
    if together and sites:
        raise CommandError("--together crawls all sites: leave --site away", USAGE)


def _draw(result: Evaluation, period: Mapping[str, str], png: Path, *, together: bool) -> None:
    """Draw the mean curves of both scenarios into a file."""
    from temporal_assets.reports.charts.picture import as_png

    of = result.sites[0].site if together else f"Mean of {len(result.sites)} sites"
    title = f"{of}, learned {period['learned']}, scored {period['scored']}"
    png.write_bytes(as_png(_charts(result), title))


def _charts(result: Evaluation) -> list[Chart]:
    """Return the mean curves of both scenarios."""
    from temporal_assets.reports.sections.crawls import curves_of

    return [
        curves_of(
            [
                {
                    "trial": "out_of_time",
                    "scenario": scenario,
                    "crawl_order": name,
                    "throughput": place / (len(curve.share) - 1),
                    "traffic_share": float(share),
                }
                for name, curve in result.mean(scenario).items()
                for place, share in enumerate(curve.share)
            ],
            title,
        )
        for scenario, title in _TITLES.items()
    ]


def _mirror(settings: Settings) -> Mirror:
    from temporal_assets.crawl.mirror.mirror import NoMirror, load, mirror_folder

    try:
        return load(mirror_folder(settings))
    except NoMirror as error:
        make = invocation("evaluate mirror PATH...", settings.state)
        raise CommandError(f"{error}: {make}") from None


def _periods(
    settings: Settings, until: dt.date | None, *, needs_later: bool
) -> tuple[list[dt.date], list[dt.date]]:
    """Return days to learn on and days to score by."""
    from temporal_assets.storage.store import Store

    days = Store.open(settings).days("transits")
    if not days:
        raise CommandError(
            f"no transits have been made yet: {invocation('ingest PATH', settings.state)}"
        )
    last = until or (days[(len(days) - 1) // 2] if needs_later else days[-1])
    learn, later = [d for d in days if d <= last], [d for d in days if d > last]
    if not learn or (needs_later and not later):
        raise CommandError(
            f"there are transits from {days[0]} to {days[-1]}: --learn-until must leave days on"
            " both sides",
            USAGE,
        )
    return learn, later


def _traffic(
    settings: Settings,
    sites: Collection[str],
    learn: list[dt.date],
    score: list[dt.date],
    clicks: Path | None,
) -> tuple[Learning, pa.Table]:
    """Return the traffic to learn from, and the visits of pages to judge by."""
    from temporal_assets.crawl.mirror.traffic import clicks_of, learning_of, traffic_of
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.logs.urls.url_rules import UrlRules
    from temporal_assets.storage.store import Store

    store, engine = Store.open(settings), engine_of(settings)
    with store.scratch() as scratch:
        taught = {day: _transits(store, [day]) for day in learn}
        learned = learning_of(engine, taught, scratch, sites)
        if clicks is None:
            return learned, traffic_of(engine, _transits(store, score), scratch, sites).pages
    try:
        scored, bad = clicks_of(clicks, UrlRules.from_settings(settings.cleaning))
    except OSError as error:
        raise CommandError(f"{console.place(clicks)}: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(f"{console.place(clicks)}: {error}") from None
    if bad:
        console.warn(f"{console.counted(bad, 'line')} without URL and number left out")
    return learned, scored


def _unnamed(settings: Settings, days: list[dt.date]) -> set[str]:
    """Return the sites whose names are not shown, because too few clients know them."""
    from temporal_assets.crawl.mirror.traffic import rare_sites
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.storage.store import Store

    store = Store.open(settings)
    transits = _transits(store, days)
    return rare_sites(engine_of(settings), transits, settings.privacy.min_clients)


def _transits(store: Store, days: Sequence[dt.date]) -> dict[str, list[str]]:
    """Return the input files of `transits` of some days, after verifying them."""
    from temporal_assets.days.transits import transit_inputs

    manifests = [store.require("transits", day) for day in days]
    store.verify_all(manifests)
    return transit_inputs(store, manifests)


def _report(result: Evaluation, period: dict[str, str], unnamed: set[str]) -> dict[str, Any]:
    """Return everything as JSON values; curves only at the throughputs, without unnamed sites."""
    return {
        **period,
        "sites": [
            {
                "site": None if site_result.site in unnamed else site_result.site,
                "pages": site_result.pages,
                "reachable": site_result.reachable,
                "links": site_result.links,
                "patterns": site_result.patterns,
                "covered": site_result.covered,
                "traffic_in_mirror": site_result.in_mirror,
                **{scenario: _numbers(curves) for scenario, curves in site_result.curves.items()},
            }
            for site_result in result.sites
        ],
        "skipped": {site: why for site, why in result.skipped.items() if site not in unnamed},
        "skipped_unnamed": len(unnamed & result.skipped.keys()),
        **{scenario: _numbers(result.mean(scenario)) for scenario in ("fetch", "discovery")},
        "combined_less_best": {name: _gains(result, name) for name in ("fetch", "discovery")},
    }


def _gains(result: Evaluation, scenario: str) -> list[dict[str, Any]]:
    """Return the lead of our order over the best simple order at each share of the pages."""
    import numpy as np

    from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS

    best = result.best_baseline(scenario, np.array(THROUGHPUTS))
    gain = result.gain(scenario, "combined", best, np.array(THROUGHPUTS))
    return [
        {
            "throughput": share,
            "best_baseline": best[i],
            "gain": float(gain.mean[i]),
            "low": None if gain.low is None else float(gain.low[i]),
            "high": None if gain.high is None else float(gain.high[i]),
        }
        for i, share in enumerate(THROUGHPUTS)
    ]


def _numbers(curves: Mapping[str, CrawlCurve]) -> dict[str, Any]:
    """Return the area and some points of each curve as JSON values."""
    from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS, WANTED

    return {
        name: {
            "area": curve.area,
            "pages_for": {f"{wanted:g}": curve.pages_for(wanted) for wanted in WANTED},
            "traffic_at": {f"{t:g}": float(curve.at(t)) for t in THROUGHPUTS},
        }
        for name, curve in curves.items()
    }


def _show(result: Evaluation, period: dict[str, str]) -> None:
    """Show how much each order has found after parts of the crawl."""
    from temporal_assets.core.crawls.crawl_curves import THROUGHPUTS

    shown = tuple(t for t in THROUGHPUTS if t in (0.01, 0.05, 0.1, 0.2, 0.4))
    header = (
        "order",
        "area",
        "50 %",
        "80 %",
        "90 %",
        "80 % less breadth first",
        "80 % less PageRank",
        *(f"at {t:.0%}" for t in shown),
    )
    for scenario, title in _TITLES.items():
        curves = result.mean(scenario)
        rows = [
            (
                name.replace("_", " "),
                f"{curve.area:.3f}",
                *(_percent(curve.pages_for(wanted)) for wanted in (0.5, 0.8, 0.9)),
                _difference(curve, curves["breadth_first"]),
                _difference(curve, curves["page_rank"]),
                *(f"{float(curve.at(t)):.0%}" for t in shown),
            )
            for name, curve in curves.items()
        ]
        console.show_table(f"{title} (pages needed for a share; traffic at a share)", header, rows)
        console.say(_against_the_best(result, scenario, shown))
    console.say(
        f"{_sites_in_words(result)}, out of time: learned on"
        f" {period['learned']}, scored by {period['scored']}."
        f" {console.counted(len(result.skipped), 'site')} left out."
    )


def _against_the_best(result: Evaluation, scenario: str, shares: tuple[float, ...]) -> str:
    """Return a sentence on the lead of our order over the best simple order at each share."""
    import numpy as np

    best = result.best_baseline(scenario, np.array(shares))
    gain = result.gain(scenario, "combined", best, np.array(shares))
    advantages = []
    for i, share in enumerate(shares):
        advantage = f"{100 * gain.mean[i]:+.1f}"
        if gain.low is not None and gain.high is not None:
            advantage += f" [{100 * gain.low[i]:+.1f}, {100 * gain.high[i]:+.1f}]"
        advantages.append(f"{advantage} at {share:.0%} ({best[i].replace('_', ' ')})")
    shown = ", ".join(advantages)
    return f"Points of traffic that combined has more than the best simple order: {shown}"


def _sites_in_words(result: Evaluation) -> str:
    """Return what the curves are of: all sites as one, or the mean of some."""
    (first, *others) = result.sites
    if not others and first.site.startswith("all "):
        return first.site.capitalize()
    return f"Mean of {console.counted(len(result.sites), 'site')}"


def _percent(share: float | None) -> str:
    return "never" if share is None else f"{share:.1%}"


def _difference(curve: CrawlCurve, other: CrawlCurve) -> str:
    """Return how many more pages a curve needs for 80 % of the traffic, in percentage points."""
    mine, theirs = curve.pages_for(0.8), other.pages_for(0.8)
    return "" if mine is None or theirs is None else f"{100 * (mine - theirs):+.1f}"
