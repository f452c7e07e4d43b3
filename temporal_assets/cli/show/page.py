"""`temporal-assets show page`: why a page has its labels.

Here: finding the page in a window and saying it in words. Not here: drawing (`reports.page_chart`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import USAGE, CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    check_results,
    existing_settings,
    invocation,
)
from temporal_assets.cli.shared.windows import Day

if TYPE_CHECKING:
    from temporal_assets.reports.page_chart import PageChart
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

_Row = dict[str, Any]

_CRAWLED_DAYS: Final = 60
_MOST_FETCHES: Final = 1_000

_TABLES: Final = ("page_histories", "interest_curves", "page_labels")

_DECIDED: Final = {
    "curve": "the curve decides",
    "limit": "all views are on one day",
    "concentration": "concentration decides (`labels.rule`)",
}

_WITHOUT_CURVE: Final = {
    "out_of_rounds": "no best curve was found",
    "one_day": "all views are on one day, which every narrow curve fits",
    "too_young": "the page was born less than five days before the window's end",
    "no_views": "the page has no views",
}


@command
def run(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page.", show_default=False)],
    state: State = None,
    day: Day = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="FILE", help="Draw the chart into a file as well."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write chart and reasons as a page."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a page's daily views, its interest curve, and why it has its labels.

    Of a page born in the last days it says how likely it is to turn out temporal.
    """
    from temporal_assets.reports.charts.picture import as_png
    from temporal_assets.reports.page_chart import as_chart, as_text
    from temporal_assets.storage.store import Store

    check_results(png, html)
    settings = existing_settings(state)
    store = Store.open(settings)
    page = _canonical(url, settings)
    chosen = day or _latest(store, settings)
    row, early = _find(store, settings, page, chosen)
    chart, reasons = _explained(store, settings, page, chosen, row, early)
    if png is not None:
        png.write_bytes(as_png([as_chart(chart)]))
    if html is not None:
        html.write_text(_page(chart, reasons), "utf-8")
    if as_json:
        facts = {"url": page} if row is None else row
        crawled = _crawled(store, settings, page)
        console.write_json(facts | {"early": early, "crawled": crawled})
        return
    console.write("\n".join([console.plain(page), *as_text(chart), *reasons]))


def explained(
    store: Store, settings: Settings, page: str, day: dt.date
) -> tuple[PageChart, list[str]]:
    """Return a page's chart, and the reasons of its labels. Raises `CommandError` if none."""
    return _explained(store, settings, page, day, *_find(store, settings, page, day))


def _explained(
    store: Store, settings: Settings, page: str, day: dt.date, row: _Row | None, early: _Row
) -> tuple[PageChart, list[str]]:
    crawls = [*_of_crawls(_crawled(store, settings, page)), *_of_source(store, settings, page)]
    if row is None:
        chart = _young_chart(store, settings, page, day)
        few = _few(early) if early else _seldom(sum(chart.views), day, settings)
        return chart, [few, *_of_youth(early), *crawls]
    return _chart(store, page, row), [*_reasons(row), *_of_youth(early), *crawls]


def _canonical(url: str, settings: Settings) -> str:
    from temporal_assets.logs.urls.canonical import canonical_url
    from temporal_assets.logs.urls.url_rules import UrlRules

    page = canonical_url(url, UrlRules.from_settings(settings.cleaning))
    if page is None:
        raise CommandError(
            f"{url!r} is no URL of a page: give the whole, like https://example.com/news/1", USAGE
        )
    if page != url:
        console.say(f"The canonical form of this URL is {page}")
    return page


def _latest(store: Store, settings: Settings) -> dt.date:
    days = store.days("page_labels")
    if not days:
        build = invocation("materialize", settings.state)
        raise CommandError(f"no window has been made yet: {build}")
    return days[-1]


def _find(store: Store, settings: Settings, page: str, day: dt.date) -> tuple[_Row | None, _Row]:
    """Return the page's rows of all tables joined, and its early label, empty if it is not young.

    A page with too few views has neither. A `CommandError` says that nobody opened it.
    """
    from temporal_assets.engines.chosen import engine_of
    from temporal_assets.engines.sql import literal
    from temporal_assets.logs.urls.canonical import site_of

    inputs = {name: store.files(name, day) for name in _TABLES}
    # By its site as well: rows lie in that order, so most of them are not read.
    where = f"WHERE site = {literal(site_of(page))} AND url = {literal(page)}"
    query = (
        "SELECT * FROM page_histories"  # noqa: S608 - the URL is a literal
        " INNER JOIN interest_curves USING (day, site, url)"
        f" INNER JOIN (SELECT * EXCLUDE (phi_n) FROM page_labels) USING (day, site, url) {where}"
    )
    engine = engine_of(settings)
    rows = engine.rows(query, inputs, limit=1)
    early: list[_Row] = []
    if store.manifest("early_labels", day) is not None:
        young = {"early_labels": store.files("early_labels", day)}
        early = engine.rows(f"SELECT * FROM early_labels {where}", young, limit=1)  # noqa: S608 - the URL is a literal
    if rows or early:
        return rows[0] if rows else None, early[0] if early else {}
    totals = store.require("page_totals", day)
    inputs = {"page_totals": store.paths(totals)}
    if not engine.rows(f"SELECT total FROM page_totals {where}", inputs, limit=1):  # noqa: S608 - the URL is a literal
        window = f"in the {totals.extra['window_days']} days up to {day}"
        raise CommandError(f"nobody opened {page} {window}")
    return None, {}


def _chart(store: Store, page: str, row: dict[str, Any]) -> PageChart:
    from temporal_assets.reports.page_chart import chart_of

    missing = store.require("page_histories", row["day"]).extra["missing_days"]
    title = f"{_named(page)}: born {row['birth']}, {console.counted(row['total'], 'view')}"
    return chart_of(row, row["n"], missing, title)


def _crawled(store: Store, settings: Settings, page: str) -> list[_Row]:
    """Return the fetches of a page in the latest days with results of crawls, in order."""
    from temporal_assets.engines.chosen import engine_of
    from temporal_assets.engines.sql import literal

    manifests = (store.manifest("fetches", day) for day in store.days("fetches")[-_CRAWLED_DAYS:])
    files = [
        path
        for manifest in manifests
        if manifest is not None and manifest.rows
        for path in store.paths(manifest)
    ]
    if not files:
        return []
    query = (
        "SELECT CAST(time AS VARCHAR) AS time, kind, status, source FROM fetches"  # noqa: S608 - the URL is a literal
        f" WHERE page = {literal(page)} OR source = {literal(page)} AND kind = 'hub' ORDER BY time"
    )
    return engine_of(settings).rows(query, {"fetches": files}, limit=_MOST_FETCHES)


def _of_crawls(crawled: list[_Row]) -> list[str]:
    """Return when a page was fetched, and which source showed it first, in words."""
    if not crawled:
        return []
    first, last = crawled[0], crawled[-1]
    times = console.counted(len(crawled), "time")
    status = f", the last with status {last['status']}" if last["status"] else ", the last in vain"
    if first["kind"] == "hub":
        return [f"visited as a hub {times} since {first['time']}{status}"]
    shown = f", first shown by {console.plain(first['source'])}" if first["source"] else ""
    return [f"fetched {times}, first {first['time']}{shown}{status}"]


def _of_source(store: Store, settings: Settings, page: str) -> list[str]:
    """Return what the visits of a hub brought in the latest window with results, in words."""
    from temporal_assets.engines.chosen import engine_of
    from temporal_assets.engines.sql import literal

    days = store.days("sources")
    if not days:
        return []
    query = f"SELECT * FROM sources WHERE visits > 0 AND url = {literal(page)}"  # noqa: S608 - the URL is a literal
    rows = engine_of(settings).rows(query, {"sources": store.files("sources", days[-1])}, limit=1)
    return [
        sentence for row in rows for sentence in (_brought(row), *_interval(store, settings, row))
    ]


def _brought(source: _Row) -> str:
    pages = console.counted(source["pages"], "page")
    return (
        f"{pages} that it showed first, {source['temporal_pages']} of them temporal;"
        f" {source['unchanged']} visits found nothing changed, {source['failures']} failed;"
        f" {source['new_per_day']:.1f} new temporal pages to expect a day (95 % interval"
        f" {source['new_per_day_low']:.1f} to {source['new_per_day_high']:.1f})"
    )


def _interval(store: Store, settings: Settings, source: _Row) -> list[str]:
    """Return how often the policy visits a hub, and how often it would by the logs alone."""
    from temporal_assets.engines.chosen import engine_of
    from temporal_assets.engines.sql import literal

    if store.manifest("crawl_policy", source["day"]) is None:
        return []
    if source["is_gone"]:
        return ["it is gone, so the policy does not visit it any more"]
    inputs = {name: store.files(name, source["day"]) for name in ("crawl_policy", "hub_seeds")}
    query = (
        "SELECT interval_seconds, revisit_minutes FROM crawl_policy"  # noqa: S608 - the URL is a literal
        " INNER JOIN (SELECT url AS name, revisit_minutes FROM hub_seeds) AS hubs USING (name)"
        f" WHERE kind = 'hub' AND name = {literal(source['url'])}"
    )
    rows = engine_of(settings).rows(query, inputs, limit=1)
    return [_intervals(row["interval_seconds"], row["revisit_minutes"]) for row in rows]


def _intervals(seconds: int, by_logs: float) -> str:
    from temporal_assets.policy.assemble import on_ladder

    sentence = f"the policy visits it every {seconds // 60:,} minutes"
    alone = on_ladder(round(60 * by_logs))
    return sentence if alone == seconds else f"{sentence}, by the logs alone every {alone // 60:,}"


def _young_chart(store: Store, settings: Settings, page: str, day: dt.date) -> PageChart:
    """Return the chart of a page without a curve: too young, or too few views."""
    from temporal_assets.engines.chosen import engine_of
    from temporal_assets.engines.sql import literal
    from temporal_assets.reports.page_chart import chart_of

    window = store.window("page_views", day, settings.window.days, 1)
    query = f"SELECT day, views FROM page_views WHERE url = {literal(page)}"  # noqa: S608 - the URL is a literal
    rows = engine_of(settings).rows(query, {"page_views": list(window.files)})
    seen = {row["day"]: row["views"] for row in rows}
    first = day - dt.timedelta(days=settings.window.days - 1)
    days = [first + dt.timedelta(days=n) for n in range(settings.window.days)]
    title = f"{_named(page)}: {console.counted(sum(seen.values()), 'view')} so far"
    plain = {"day": day, "is_converged": False, "b": None, "phi_n": None}
    views = [seen.get(other_day, 0) for other_day in days]
    missing = {str(other_day) for other_day in window.missing}
    return chart_of(plain | {"views": views}, settings.labels.n, missing, title)


def _named(page: str) -> str:
    from temporal_assets.core.text.readable import readable

    return readable(page)


def _few(early: _Row) -> str:
    """Return why a page has only an early label."""
    born = f"born {early['birth']}, {console.counted(early['total'], 'view')} so far"
    return f"{born}: too few views for a curve and labels yet"


def _seldom(views: int, day: dt.date, settings: Settings) -> str:
    """Return why a page that is no longer young has no label."""
    window = settings.window
    return (
        f"{console.counted(views, 'view')} in the {window.days} days up to {day}, fewer than the"
        f" {window.min_views_per_day:g} a day (`window.min_views_per_day`) that a label needs"
    )


def _of_youth(early: _Row) -> list[str]:
    """Return how likely a young page is to turn out temporal, and the basis of that."""
    if not early:
        return []
    seen = f"seen for {console.counted(early['age'], 'day')}"
    if early["basis"] == "nothing":
        return [f"{seen}; no page of the window was seen long enough to learn early labels from"]
    history = f"{early['prior']:.2f} by the history of its site and section"
    pages = f"learned from {console.counted(early['learned_from'], 'page')}"
    if early["basis"] == "history":
        return [f"{seen}: will be temporal with a probability of {history} alone; {pages}"]
    return [
        f"{seen}: will be temporal with a probability of {early['probability']:.2f}"
        f" ({history} alone; {pages})"
    ]


def _page(chart: PageChart, reasons: list[str]) -> str:
    """Return an HTML page to pass on; it names the URL, which the user knows."""
    from temporal_assets.reports import html_page
    from temporal_assets.reports.page_chart import as_chart

    title = "Views a day" + ("" if chart.curve is None else " and the interest curve")
    parts = [html_page.figure(as_chart(chart, title))]
    return html_page.page(chart.title, [*parts, *map(html_page.paragraph, reasons)])


def _reasons(row: dict[str, Any]) -> list[str]:
    """Return sentences on the labels and what they follow from."""
    before = " or before" if row["is_born_before"] else ""
    return [
        f"born {row['birth']}{before}, {console.counted(row['total'], 'view')}",
        _of_curve(row),
        _of_label(row),
        f"{_is(row['is_temporal_by_curve'])} temporal by curve: {_of_interest(row)}",
        f"{_is(row['is_news'])} news: {_of_concentration(row)}",
        *_of_thresholds(row),
    ]


def _of_curve(row: dict[str, Any]) -> str:
    if not row["is_converged"]:
        return f"no curve: {_WITHOUT_CURVE[row['reason']]}"
    edge = ", at the edge of what is possible" if row["reason"] == "at_bound" else ""
    return f"a curve explains {row['goodness']:.0%} of its views by day{edge}"


def _of_label(row: dict[str, Any]) -> str:
    if row["label_basis"] == "none":
        return "counts as not temporal for now: nothing decides yet"
    return f"{_is(row['is_temporal'])} temporal: {_of_basis(row)}"


def _of_basis(row: dict[str, Any]) -> str:
    sure = "sure" if row["is_sure"] else "not sure"
    if row["label_basis"] == "cut_share":
        from temporal_assets.core.labels.labels import cut_of_older

        sign = ">" if row["is_temporal"] else "≤"
        return (
            f"{row['first_share']:.1%} of its views fell in the first {row['n']:g} days that are"
            f" known of it ({sign} {cut_of_older(row['q']):.0%}, because it may be older than the"
            f" window; {sure})"
        )
    if row["label_basis"] == "share":
        sign = ">" if row["is_temporal"] else "≤"
        return (
            f"{row['first_share']:.1%} of its views fell in its first {row['n']:g} days"
            f" ({sign} {row['q']:.0%}; {sure})"
        )
    return f"{_DECIDED[row['label_basis']]} ({sure})"


def _of_interest(row: dict[str, Any]) -> str:
    if row["phi_n"] is None:
        return "nothing is known of its interest"
    sign = ">" if row["is_temporal_by_curve"] else "≤"
    return (
        f"{row['phi_n']:.1%} of its readers come within {row['n']:g} days ({sign}"
        f" {row['q']:.0%}; 95 % interval {row['phi_n_low']:.0%} to {row['phi_n_high']:.0%})"
    )


def _of_concentration(row: dict[str, Any]) -> str:
    if not row["has_concentration"]:
        return f"observed for no more than {row['m']} days"
    sign = ">" if row["is_news"] else "≤"
    return f"concentration over {row['m']} days {row['concentration']:.2f} {sign} {row['p']:g}"


def _of_thresholds(row: dict[str, Any]) -> list[str]:
    if row["thresholds"] == "settings":
        return []
    whose = {"all": "all annotated pages", "site": "its site", "section": "its section"}
    return [f"thresholds by calibration on {whose[row['thresholds']]}"]


def _is(label: bool) -> str:
    return "is" if label else "is not"
