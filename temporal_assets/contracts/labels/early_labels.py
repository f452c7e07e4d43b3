"""Contract of `early_labels`: probability that a young page turns out temporal."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.pages.page_totals import PAGE_TOTALS
from temporal_assets.contracts.rules import Drift, Rule, no_rows
from temporal_assets.contracts.table import Table, columns

YOUNG_DAYS: Final = 7
"""Days after which a page is no longer young: its curve is fitted from the fifth on, and labels
learned for later days would hardly be used."""

EARLY_LABELS: Final = Table(
    name="early_labels",
    version=3,
    description=(
        f"Pages born in the last {YOUNG_DAYS} days, reliable or not, and how likely each is to turn"
        " out temporal, given its views so far and the history of its site and section. Learned"
        " from what the pages of the window really did."
    ),
    grain="one young page of the window",
    columns=(
        *columns("day DATE: Last day of the window."),
        *PAGE_TOTALS.taken("site", "url"),
        *columns("""
            section VARCHAR from page_totals.url: Top folder of the page, or its program: a prefix
                of the URL, without the scheme.
            """),
        *PAGE_TOTALS.taken("birth"),
        *columns("""
            age BIGINT from page_totals.birth: Days from birth to the window's end, both included.
            total BIGINT from page_totals.total: Views so far.
            probability DOUBLE NULL from page_views.views, page_totals.total: Probability that the
                page is temporal; NULL where there is nothing to learn from.
            prior DOUBLE NULL from page_views.views, page_totals.total: Probability before any view
                was looked at: from the page's site and section alone.
            basis VARCHAR from page_views.views, page_totals.total: What `probability` rests on:
                `views` (and history); `history` of site and section alone, where all known pages
                are of one kind; `nothing`, where no page is known.
            learned_from BIGINT from page_views.views, page_totals.total: Known pages that were
                learned from: born in the window and seen long enough since.
            """),
    ),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "probability_in_range",
            "early_labels",
            "probability < 0 OR probability > 1 OR isnan(probability)"
            " OR prior < 0 OR prior > 1 OR isnan(prior)",
            protects="Crawlers rank pages by it.",
        ),
        no_rows(
            "basis_is_known",
            "early_labels",
            "basis NOT IN ('views', 'history', 'nothing')"
            " OR (basis = 'nothing') <> (probability IS NULL)"
            " OR (basis = 'nothing') <> (learned_from = 0)"
            " OR (probability IS NULL) <> (prior IS NULL)",
            protects="A guess is not taken for what was learned.",
        ),
        no_rows(
            "pages_are_young",
            "early_labels",
            f"age < 1 OR age > {YOUNG_DAYS} OR birth > $day"
            f" OR date_diff('day', birth, $day) >= {YOUNG_DAYS}",
            protects="Older pages have curves.",
        ),
        Rule(
            name="every_young_page_has_a_row",
            measure=(
                "(SELECT count(*) FROM page_totals WHERE date_diff('day', birth, $day) <"  # noqa: S608 - names and numbers of the contract
                f" {YOUNG_DAYS}) - count(*)"
            ),
            minimum=0,
            maximum=0,
            reads=("page_totals",),
            protects="A page without a row is not decided on before it is old.",
            remedy="`page_totals` was made again since: materialise the day again.",
        ),
    ),
    drifts=(
        Drift(
            name="probability_is_usual",
            measure="avg(probability)",
            whole="count(*)",
            largest_difference=0.15,  # a weekend's births are of another kind than a Monday's
            protects="A jump comes from births that are none: URLs of another form, missing days.",
            remedy="Compare `early_labels` by section with the day before.",
        ),
    ),
)
