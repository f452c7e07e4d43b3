"""Patterns of real sites on later days; skipped where the data is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.later_patterns import arrivals, by_year, described

MOVED = {("wapo", 2023)}
"""Changed its URLs within these two weeks."""


@pytest.fixture(scope="module")
def sites(shared_data: Path) -> dict[str, list]:
    return arrivals(shared_data)


def test_patterns_of_every_year_hold_the_next_two_weeks(sites: dict[str, list]) -> None:
    judged = {(site, year): row[2] for site, found in sites.items()
              for year, row in by_year(found).items()}  # fmt: skip
    assert len(judged) > 12
    assert {key for key, share in judged.items() if share < 0.95} <= MOVED


@pytest.mark.parametrize("site", ["lat", "wapo", "nbc", "cnn"])
def test_every_section_has_a_pattern_of_its_own(sites: dict[str, list], site: str) -> None:
    """Sites that the rule was not chosen on: fewer bits, and as many URLs covered."""
    drop, support = (described(sites[site], rule) for rule in ("drop", "support"))
    assert support.bits < drop.bits - 3
    assert support.coverage >= drop.coverage - 0.0005
    assert support.in_wildcard < drop.in_wildcard
