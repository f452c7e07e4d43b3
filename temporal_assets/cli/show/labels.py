"""`temporal-assets show labels`: how the pages of a window, or of one of its sites, are labelled.

Here: the command. Not here: why a single page has its labels (`page`), drawing
(`reports.distribution`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.exits import CommandError, command
from temporal_assets.cli.shared.options import (
    Json,
    State,
    check_results,
    existing_settings,
    invocation,
)
from temporal_assets.cli.shared.sites import named_site
from temporal_assets.cli.shared.windows import Day

if TYPE_CHECKING:
    from temporal_assets.core.labels.labels import Agreement
    from temporal_assets.reports.distribution import Distribution
    from temporal_assets.settings import Settings

_PAIRS: Final = (
    "SELECT is_temporal_by_curve, is_news, label_basis, count(*) AS pages,"
    " sum(CAST(is_temporal AS BIGINT)) AS temporal, sum(CAST(is_sure AS BIGINT)) AS sure"
    " FROM page_labels GROUP BY ALL"
)

_THRESHOLDS: Final = (
    "SELECT thresholds, n, q, m, p, count(*) AS pages FROM page_labels GROUP BY ALL"
    " ORDER BY pages DESC, thresholds, n, q, m, p"
)


_LISTED: Final = 20
"""Most kinds of thresholds that are printed: sites may have their own. `--json` has all."""


@dataclass(frozen=True, slots=True)
class _Labelled:
    """Numbers of pages by label, and distributions of the scores."""

    day: dt.date
    site: str | None
    agreement: Agreement
    sure: int
    temporal: int
    """Number of pages that are temporal by the configured rule."""
    decided: dict[str, int]
    """Number of pages by the basis of their label."""
    interest: Distribution
    concentration: Distribution
    thresholds: list[dict[str, Any]]
    p: float
    """Configured threshold of concentration."""

    @property
    def pages(self) -> int:
        """Number of labelled pages."""
        counts = self.agreement
        return counts.both + counts.only_first + counts.only_second + counts.neither


@command
def run(
    site: Annotated[
        str | None,
        typer.Argument(metavar="SITE", help="A host; all sites when none is named."),
    ] = None,
    state: State = None,
    day: Day = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write tables and plots as a page."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how pages are labelled, how far both labels agree, and how their scores spread.

    The scores are the share of interest on the first day and concentration.
    """
    check_results(html)
    labelled = _labelled(existing_settings(state), site and named_site(site), day)
    if html is not None:
        html.write_text(_page(labelled), "utf-8")
    if as_json:
        console.write_json(_report(labelled))
        return
    _show(labelled)


def _labelled(settings: Settings, site: str | None, day: dt.date | None) -> _Labelled:
    """Return the numbers of a window's labels, of all sites or one."""
    from temporal_assets.core.labels.labels import by_both
    from temporal_assets.engines.engine_choice import engine_of
    from temporal_assets.reports import distribution
    from temporal_assets.storage.store import Store

    store, engine = Store.open(settings), engine_of(settings)
    days = store.days("page_labels")
    if not days:
        build = invocation("materialize", settings.state)
        raise CommandError(f"no window has been made yet: {build}")
    chosen = day or days[-1]

    def rows(query: str, table: str) -> list[dict[str, Any]]:
        return engine.rows(
            _restricted_to_site(query, table, site), {table: store.files(table, chosen)}
        )

    pairs = rows(_PAIRS, "page_labels")
    if not pairs:
        whose = f" of {site}" if site else ""
        raise CommandError(f"no page{whose} has enough views for a label in the window of {chosen}")
    decided: Counter[str] = Counter()
    for row in pairs:
        decided[row["label_basis"]] += row["pages"]
    return _Labelled(
        day=chosen,
        site=site,
        agreement=by_both(pairs),
        sure=int(sum(row["sure"] for row in pairs)),
        temporal=int(sum(row["temporal"] for row in pairs)),
        decided=dict(decided.most_common()),
        interest=distribution.of_interest(rows(distribution.INTEREST, "interest_curves")),
        concentration=distribution.of_concentration(
            rows(distribution.CONCENTRATION, "page_labels")
        ),
        thresholds=rows(_THRESHOLDS, "page_labels"),
        p=settings.labels.p,
    )


def _restricted_to_site(query: str, table: str, site: str | None) -> str:
    """Return the query restricted to the rows of one site, or unchanged."""
    from temporal_assets.engines.sql import literal

    if site is None:
        return query
    own = f"(SELECT * FROM {table} WHERE site = {literal(site)}) AS {table}"  # noqa: S608 - quoted
    return query.replace(f"FROM {table}", f"FROM {own}")  # SQL: the table is one of ours


# What is shown ---------------------------------------------------------------------------------

_BASES: Final = {
    "share": "the share of the first days",
    "cut_share": "the same of pages that may be older than the window",
    "curve": "the curve",
    "limit": "all views on one day",
    "concentration": "concentration",
    "none": "nothing yet",
}
_PAIR_COLUMNS: Final = ("by curve", "news by concentration", "not news", "all")
_THRESHOLD_COLUMNS: Final = ("thresholds from", "n", "q", "m", "p", "pages")


def _title(labelled: _Labelled) -> str:
    return f"Labels of {labelled.site or 'all sites'}, window of {labelled.day}"


def _pairs(labelled: _Labelled) -> list[tuple[Any, ...]]:
    """Return the table of both labels: pages that are temporal, news, both or neither."""
    agreement = labelled.agreement
    temporal, other = (
        agreement.both + agreement.only_first,
        agreement.only_second + agreement.neither,
    )
    return [
        ("temporal", agreement.both, agreement.only_first, temporal),
        ("not temporal", agreement.only_second, agreement.neither, other),
        (
            "all",
            agreement.both + agreement.only_second,
            agreement.only_first + agreement.neither,
            temporal + other,
        ),
    ]


def _sentences(labelled: _Labelled) -> list[str]:
    """Return what decided over labels, and how well the papers' labels agree, in sentences."""
    agreement = labelled.agreement
    decided = ", ".join(f"{_BASES[basis]} of {n:,}" for basis, n in labelled.decided.items())
    return [
        f"{labelled.temporal:,} of {labelled.pages:,} pages are temporal. What decided: {decided}.",
        f"Both labels agree on {agreement.share:.1%} of {labelled.pages:,} pages"
        f" (beyond chance,"
        f" Cohen's κ: {agreement.kappa:.2f}).",
        f"{labelled.sure / labelled.pages:.1%} of the pages are labelled surely:"
        f" the 95 % interval of"
        " what decided lies on one side of its threshold.",
    ]


def _show(labelled: _Labelled) -> None:
    """Show the labels as tables, sentences and drawings for the terminal."""
    from temporal_assets.reports.distribution import as_text

    console.show_table(_title(labelled), _PAIR_COLUMNS, _pairs(labelled))
    console.write_sentences("\n".join(_sentences(labelled)))
    rows = [tuple(row.values()) for row in labelled.thresholds[:_LISTED]]
    console.show_table("", _THRESHOLD_COLUMNS, rows)
    for distribution in (labelled.interest, labelled.concentration):
        console.write("\n".join([*as_text(distribution), ""]))


def _page(labelled: _Labelled) -> str:
    """Return the labels as an HTML page."""
    from temporal_assets.reports import html_page
    from temporal_assets.reports.distribution import concentration_chart, interest_chart

    rows = [tuple(row.values()) for row in labelled.thresholds[:_LISTED]]
    return html_page.page(
        _title(labelled),
        [
            html_page.table(_PAIR_COLUMNS, _pairs(labelled)),
            *map(html_page.paragraph, _sentences(labelled)),
            html_page.table(_THRESHOLD_COLUMNS, rows),
            html_page.figure(interest_chart(labelled.interest, "All pages")),
            html_page.figure(concentration_chart(labelled.concentration, "All pages", labelled.p)),
        ],
    )


def _report(labelled: _Labelled) -> dict[str, Any]:
    """Return the labels as JSON values."""
    agreement = labelled.agreement
    return {
        "day": labelled.day,
        "site": labelled.site,
        "pages": labelled.pages,
        "temporal_and_news": agreement.both,
        "temporal_only": agreement.only_first,
        "news_only": agreement.only_second,
        "neither": agreement.neither,
        "agreement": agreement.share,
        "agreement_beyond_chance": agreement.kappa,
        "sure": labelled.sure,
        "temporal": labelled.temporal,
        "decided_by": labelled.decided,
        "thresholds": labelled.thresholds,
        **{
            name: {"starts": part.starts, "pages": part.pages}
            for name, part in (
                ("interest_of_first_day", labelled.interest),
                ("concentration", labelled.concentration),
            )
        },
    }
