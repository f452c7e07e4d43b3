"""Contract of `page_flow`: pages born in the window and their labels."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, no_rows
from temporal_assets.contracts.table import Table, columns

PAGE_FLOW: Final = Table(
    name="page_flow",
    version=1,
    description=(
        "The flow: pages born in the observed part of the window, after its first observed week,"
        " and what each turned out to be. A crawler meets such pages, and lists and policy are made"
        " from them; the stock of all pages stays in `page_labels`."
    ),
    grain="one page born in the window, of which a label or a probability is known",
    columns=columns("""
        day DATE: Last day of the window.
        site VARCHAR from page_histories.site, early_labels.site: Host of `url`.
        url VARCHAR from page_histories.url, early_labels.url: Canonical URL of the page.
        birth DATE from page_histories.birth, early_labels.birth: First day of the window with
            views.
        views BIGINT from page_histories.total, early_labels.total: Views on all days of the window.
        is_reliable BOOLEAN from page_histories.url: The page has a history. Those with fewer views
            are here while they are young.
        temporal DOUBLE from page_labels.is_temporal, early_labels.probability: 1 for a temporal
            page, 0 for another; of a young one the probability that it is temporal. In thousandths.
        basis VARCHAR: What `temporal` is: the `label`, or the `early` label of a young page.
        """),
    key=("day", "url"),
    own_rules=(
        no_rows(
            "temporal_in_range",
            "page_flow",
            "temporal < 0 OR temporal > 1 OR isnan(temporal) OR basis NOT IN ('label', 'early')"
            " OR basis = 'label' AND (temporal NOT IN (0, 1) OR NOT is_reliable)",
            protects="Shares of the flow are sums of it.",
        ),
        no_rows(
            "birth_in_window",
            "page_flow",
            "birth <= $window_first OR birth > day OR views < 1",
            protects="Of a page that was there when the window began nobody knows how it began.",
        ),
        Rule(
            name="labels_are_those_of_the_window",
            measure=(
                "(SELECT count(*) FROM page_flow LEFT JOIN page_labels"
                " ON page_labels.url = page_flow.url"
                " WHERE basis = 'label' AND (page_labels.url IS NULL"
                " OR page_labels.is_temporal <> (temporal = 1)))"
            ),
            maximum=0,
            reads=("page_labels",),
            protects="Stock and flow rest on the same labels.",
            remedy="`page_labels` was made again since: materialise the day again.",
        ),
    ),
)
