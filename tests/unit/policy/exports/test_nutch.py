"""Exports to Nutch."""

from __future__ import annotations

import re
from pathlib import Path

from temporal_assets.policy import Policy
from temporal_assets.policy.document import Document
from temporal_assets.policy.exports import TARGETS
from tests.exported import (
    WITHOUT_PORTS,
    check,
    fast_filter,
    first_match,
    hubs_in_order,
)
from tests.policies import (
    URLS,
)


def test_nutch(policy: Policy, doc: Document) -> None:
    files = TARGETS["nutch"](doc)
    regex = files["conf/regex-urlfilter.txt"]
    check(policy, URLS, lambda url: first_match(regex, url))
    lines = files["conf/prefix-urlfilter.txt"].splitlines()
    prefixes = [line for line in lines if line[:1] not in ("", " ", "#")]  # PrefixURLFilter

    def both_filters(url: str) -> bool:
        known = any(url.startswith(prefix) for prefix in prefixes)
        return known and fast_filter(files["conf/fast-urlfilter.txt"], url)

    check(policy, WITHOUT_PORTS, both_filters)
    seeds = [line.split("\t") for line in files["seeds/seeds.txt"].splitlines()]
    assert seeds[0] == [
        "https://news.example/", "nutch.score=16.0", "nutch.fetchInterval=1200", "policyTier=1",
    ]  # fmt: skip
    assert [seed[0] for seed in seeds] == hubs_in_order(policy)
    scores = [float(seed[1].partition("=")[2]) for seed in seeds]
    assert scores == sorted(scores, reverse=True)
    assert all(seed[2].partition("=")[2].isdigit() for seed in seeds)  # Integer.parseInt
    assert files["conf/adaptive-host-specific-intervals.txt"].splitlines() == [
        "board.example 86400 2592000",
        "news.example 300 2592000",
        "shop.example 300 2592000",
    ]


def test_bounds_of_hosts_lie_within_those_that_are_documented(
    doc: Document, repository: Path
) -> None:
    """AdaptiveFetchSchedule takes no bound that equals the one of all hosts."""
    text = (repository / "docs" / "crawlers" / "nutch.md").read_text("utf-8")
    answer = dict(re.findall(r"adaptive\.(m.._interval)</name><value>([0-9.]+)<", text))
    least, most = (
        float(answer.get("min_interval", 60)),
        float(answer.get("max_interval", 365 * 86_400)),
    )
    lines = TARGETS["nutch"](doc)["conf/adaptive-host-specific-intervals.txt"].splitlines()
    for line in lines:
        shortest, longest = map(float, line.split()[1:])
        assert least < shortest <= longest < most, line
