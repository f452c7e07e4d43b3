"""Distributions of scores: bars where they belong, with what they count."""

from __future__ import annotations

import duckdb

from temporal_assets.reports import distribution
from temporal_assets.reports.charts.picture import as_png
from temporal_assets.reports.distribution import Distribution, as_text, interest_chart


def rows(query: str, table: str, values: str) -> list[dict[str, int]]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {values}")  # noqa: S608
        actual = connection.sql(query)
        return [dict(zip(actual.columns, row, strict=True)) for row in actual.fetchall()]


def test_interest_has_twenty_bars_and_leaves_out_what_is_unknown() -> None:
    values = "(VALUES (0.0), (0.049), (0.05), (0.95), (1.0), (NULL)) AS v(phi_1)"
    interest = distribution.of_interest(rows(distribution.INTEREST, "interest_curves", values))
    assert len(interest.starts) == 20
    assert (interest.starts[1], interest.starts[-1]) == (0.05, 0.95)
    assert interest.pages == (2, 1, *[0] * 16, 0, 2)
    assert interest.total == 5


def test_concentration_goes_to_its_highest_bar() -> None:
    values = "(VALUES (0.9, true), (1.0, true), (3.2, true), (9.0, false)) AS v(concentration, d)"
    named = values.replace(", d)", ", has_concentration)")
    concentration = distribution.of_concentration(
        rows(distribution.CONCENTRATION, "page_labels", named)
    )
    assert (concentration.starts, concentration.pages) == ((0.0, 1.0, 2.0, 3.0), (1, 1, 0, 1))


def test_a_bar_is_as_long_as_its_pages() -> None:
    bars = Distribution("pages", (0.0, 0.5, 1.0), (1, 0, 2))
    half, whole = "█" * 25, "█" * 50
    assert as_text(bars) == [
        "pages: 3 pages",
        f"     0 │{half} 1",
        "   0.5 │",
        f"     1 │{whole} 2",
    ]
    assert as_png([interest_chart(bars, "Some pages")]).startswith(b"\x89PNG\r\n")


def test_nothing_is_a_distribution_too() -> None:
    assert distribution.of_interest([]).total == 0
    assert as_text(distribution.of_concentration([])) == [
        "pages by concentration (NP figure 2): 0 pages",
        "     0 │",
    ]
