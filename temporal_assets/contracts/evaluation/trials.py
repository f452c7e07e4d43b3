"""Columns and rules that the contracts of `seed_evaluation` and `hub_evaluation` share."""

from __future__ import annotations

from typing import Final

from temporal_assets.contracts.rules import Rule, no_rows
from temporal_assets.contracts.table import ColumnSpec, Type

SITE_SHARE: Final = ColumnSpec(
    "site_share",
    Type.DOUBLE,
    "Share of the sites by whose pages they are judged; below 1 where these are a sample."
    " Counts are those of the sample.",
    sources=("page_labels.site",),
)


def sites_are_a_share(table: str) -> Rule:
    """Return the rule that `site_share` of a table is above 0 and at most 1."""
    return no_rows(
        "sites_are_a_share",
        table,
        "site_share <= 0 OR site_share > 1",
        protects="Nobody takes the counts of a sample for those of all sites.",
    )
