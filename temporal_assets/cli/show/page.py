"""`temporal-assets show page`: why a page has its labels.

Here: the command, and finding the page in a window. Not here: the reasons in words
(`page_reasons`), what crawls found (`page_crawls`), drawing (`reports.page_chart`).
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
from temporal_assets.cli.show.page_crawls import (
    fetches_of,
    sentences_of_fetches,
    sentences_of_source,
)
from temporal_assets.cli.show.page_reasons import (
    reasons_of_labels,
    reasons_of_youth,
    seldom_opened,
    too_few_views,
)

if TYPE_CHECKING:
    from temporal_assets.reports.page_chart import PageChart
    from temporal_assets.settings import Settings
    from temporal_assets.storage.store import Store

_Row = dict[str, Any]

_TABLES: Final = ("page_histories", "interest_curves", "page_labels")


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
    row, early = _find_page(store, settings, page, chosen)
    chart, reasons = _explained(store, settings, page, chosen, row, early)
    if png is not None:
        png.write_bytes(as_png([as_chart(chart)]))
    if html is not None:
        html.write_text(_page(chart, reasons), "utf-8")
    if as_json:
        facts = {"url": page} if row is None else row
        crawled = fetches_of(store, settings, page)
        console.write_json(facts | {"early": early, "crawled": crawled})
        return
    console.write("\n".join([console.plain(page), *as_text(chart)]))
    console.write_sentences("\n".join(reasons))


def explained(
    store: Store, settings: Settings, page: str, day: dt.date
) -> tuple[PageChart, list[str]]:
    """Return a page's chart, and the reasons of its labels. Raises `CommandError` if none."""
    return _explained(store, settings, page, day, *_find_page(store, settings, page, day))


def _explained(
    store: Store, settings: Settings, page: str, day: dt.date, row: _Row | None, early: _Row
) -> tuple[PageChart, list[str]]:
    """Return the chart and the reasons of a page, given its rows."""
    crawls = [
        *sentences_of_fetches(fetches_of(store, settings, page)),
        *sentences_of_source(store, settings, page),
    ]
    if row is None:
        chart = _young_chart(store, settings, page, day)
        few = too_few_views(early) if early else seldom_opened(sum(chart.views), day, settings)
        return chart, [few, *reasons_of_youth(early), *crawls]
    return _chart(store, page, row), [*reasons_of_labels(row), *reasons_of_youth(early), *crawls]


def _canonical(url: str, settings: Settings) -> str:
    """Return the canonical form of a typed URL, and say so if it is another."""
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


def _find_page(
    store: Store, settings: Settings, page: str, day: dt.date
) -> tuple[_Row | None, _Row]:
    """Return the page's rows of all tables joined, and its early label, empty if it is not young.

    A page with too few views has neither. A `CommandError` says that nobody opened it.
    """
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.engines.sql import literal
    from temporal_assets.logs.urls.canonical import site_of

    inputs = {name: store.files(name, day) for name in _TABLES}
    # By its site as well: rows are sorted by it, so most of them are not read.
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


def _young_chart(store: Store, settings: Settings, page: str, day: dt.date) -> PageChart:
    """Return the chart of a page without a curve: too young, or too few views."""
    from temporal_assets.engines.engine_choice import engine_of
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


def _page(chart: PageChart, reasons: list[str]) -> str:
    """Return an HTML page to pass on; it names the URL, which the user knows."""
    from temporal_assets.reports import html_page
    from temporal_assets.reports.page_chart import as_chart

    title = "Views a day" + ("" if chart.curve is None else " and the interest curve")
    parts = [html_page.figure(as_chart(chart, title))]
    return html_page.page(chart.title, [*parts, *map(html_page.paragraph, reasons)])
