"""Sentences and tables of single commands."""

from __future__ import annotations

import datetime as dt
import io
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from temporal_assets.cli.reports.pattern_node import _decided
from temporal_assets.cli.shared import console
from temporal_assets.cli.shared.days import parse_day, ranges, span
from temporal_assets.cli.shared.exits import USAGE, CommandError
from temporal_assets.cli.shared.sites import named_site
from temporal_assets.cli.sources.previews import show_previews
from temporal_assets.cli.trial.rules import _advice
from temporal_assets.core.lists.list_tuning import PrefixTrial, SiteTrial
from temporal_assets.core.lists.prefix_tree import PrefixRule
from temporal_assets.core.lists.site_scores import Scoring
from temporal_assets.core.numerics.metrics import Outcome
from temporal_assets.landing.preview import Preview
from temporal_assets.landing.preview_lines import PreviewLine
from temporal_assets.settings import LogSource, load_settings
from temporal_assets.windows.evaluation.tuning import Tuned
from temporal_assets.windows.patterns.stored_patterns import StoredPatterns

#      0 divided (0.31); 1 merged (0.97); 2, below it, was merged before (1.00)
NODES: list[dict[str, Any]] = [
    {"parent": -1, "merged_by": None, "similarity": 0.31, "is_transit_leaf": False},
    {"parent": 0, "merged_by": "transit", "similarity": 0.97, "is_transit_leaf": True},
    {"parent": 1, "merged_by": None, "similarity": 1.0, "is_transit_leaf": False},
    {"parent": 2, "merged_by": None, "similarity": None, "is_transit_leaf": False},
]


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (0, "kept apart: similarity 0.31"),
        (1, "merged: similarity 0.97"),
        (2, "merged: similarity 1.00"),
        (3, ""),
    ],
)
def test_a_node_that_was_merged_was_not_kept_apart(node: int, said: str) -> None:
    assert _decided(StoredPatterns("h.example", NODES, {}, []), NODES[node]) == said


def test_eighty_columns_say_of_each_line_what_became_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(console, "_results", lambda: Console(file=screen, width=80))
    line = PreviewLine(
        1,
        dt.datetime(2026, 3, 1, 12),
        "visitor 1",
        "www.example.com",
        "https://www.example.com/news/2026/03/a-long-title-of-a-page.html",
        "https://search.example.org/results?q=a-long-title",
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101",
        "kept",
    )
    file: Any = Path("access.log")
    source = LogSource(path="access.log")
    show_previews([Preview(source, file, 1, "combined", (line,), 1, 1, {}, ())])
    shown = screen.getvalue()
    assert "outcome" in shown
    assert "kept" in shown
    assert max(map(len, shown.splitlines())) <= 80


DAY = dt.date(2026, 3, 1)


def test_they_are_settings(tmp_path: Path) -> None:
    site = SiteTrial(Scoring(4.0, 1.0), 7, 0.5, 0.5, 0.5)
    rule = PrefixTrial("confident", PrefixRule(0.3), 2, Outcome(1, 1, 1, 1))
    others = (
        [SiteTrial(None, 5, 0.1, 0.1, 0.1)],
        [PrefixTrial("flow", PrefixRule(), 1, rule.outcome)],
    )
    text = _advice(Tuned(DAY, DAY, 1, 1, 1, others[0], [], others[1]), site, rule)
    settings = load_settings(tmp_path, **tomllib.loads(text.partition("\n")[2]))
    assert (settings.sites.rule, settings.sites.alpha, settings.sites.top_k) == (
        "confident",
        4.0,
        7,
    )
    assert (settings.prefixes.rule, settings.prefixes.threshold) == ("confident", 0.3)


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("example.com", "example.com"),
        ("Example.COM", "example.com"),
        ("https://example.com/news/1?page=2", "example.com"),
        ("http://example.com:8080", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("https://BÜCHER.example/neu", "xn--bcher-kva.example"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("https://[2001:DB8::1]:81/", "[2001:db8::1]"),
        (" //example.com/a", "example.com"),
        ("www.example.com/a://b", "www.example.com"),
        ("No host", "no host"),
        ("", ""),
    ],
)
def test_a_site_is_named_as_the_tables_call_it(text: str, site: str) -> None:
    assert named_site(text) == site


def day(text: str) -> dt.date:
    return dt.date.fromisoformat(text)


def test_a_span_includes_both_ends() -> None:
    days = [day("2026-02-27"), day("2026-02-28"), day("2026-03-01")]
    assert span(days[0], days[-1]) == days
    assert span(days[0], days[0]) == days[:1]


def test_a_span_that_ends_before_it_begins_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(CommandError, match=r"end \(2026-02-26\) before they begin") as error:
        span(day("2026-02-27"), day("2026-02-26"))
    assert error.value.code == USAGE


def test_runs_of_days_are_joined() -> None:
    days = [day("2025-12-31"), day("2026-01-01"), day("2026-01-03")]
    assert ranges(days) == "2025-12-31..2026-01-01, 2026-01-03"
    assert ranges([]) == ""


def test_long_lists_of_ranges_are_cut_and_say_so() -> None:
    days = [day("2026-01-01") + dt.timedelta(2 * n) for n in range(5)]
    assert ranges(days, limit=2) == "2026-01-01, 2026-01-03, and 3 more ranges up to 2026-01-09"


@given(st.sets(st.dates(), min_size=1, max_size=30))
def test_ranges_lose_no_day(days: set[dt.date]) -> None:
    text = ranges(sorted(days), limit=1000)
    actual: set[dt.date] = set()
    for part in text.split(", "):
        first, _, last = part.partition("..")
        actual.update(span(day(first), day(last or first)))
    assert actual == days


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "2026-02-30", ""])
def test_what_is_no_day_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a day like 2026-01-31"):
        parse_day(text)
