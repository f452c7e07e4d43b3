"""Lists learned and judged: a few pages by hand, bootstrap intervals, the papers' own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from temporal_assets.core.lists.list_judgement import Choice, Pages, Rules, choices, coverage
from temporal_assets.core.lists.prefix_tree import PrefixRule
from temporal_assets.core.lists.site_bootstrap import SiteCounts, draw, interval
from temporal_assets.core.lists.site_scores import Scoring
from temporal_assets.core.text.texts import texts
from temporal_assets.core.text.url_sections import section_trees

A, B = "https://a.example", "https://b.example"

# Known: /news/ has five temporal pages of six, /old/ none of four; b has one of one.
KNOWN = {
    **{f"{A}/news/{n}": n < 5 for n in range(6)},
    **{f"{A}/old/{n}": False for n in range(4)},
    f"{B}/x": True,
}
# Judged: three temporal pages of /news/, an untemporal one of /old/, and two of b, one temporal.
JUDGED = {
    **{f"{A}/news/new{n}": True for n in range(3)},
    f"{A}/old/new": False,
    f"{B}/y": True,
    f"{B}/z": False,
}
RULES = Rules(Scoring(min_pages=2, confidence=0.8), PrefixRule(0.4, 3, 0.8), 1)


def pages() -> Pages:
    urls = [*KNOWN, *JUDGED]
    known = np.arange(len(urls)) < len(KNOWN)
    return Pages(
        section_trees(texts(urls)),
        known,
        known,
        np.array([*KNOWN.values(), *([False] * len(JUDGED))]),
        np.where(known, 60, 0),
        ~known,
        np.array([*([False] * len(KNOWN)), *JUDGED.values()]),
    )


def used(baseline: list[str] | None = None) -> dict[tuple[str, str], Choice]:
    flags = None if baseline is None else pages().trees.find(baseline)
    actual = choices(pages(), RULES, flags)
    return {(ranking.method, ranking.rule): ranking for ranking in actual if ranking.is_used}


def counts(choice: Choice) -> tuple[int, int, int]:
    actual = coverage(pages(), choice.covers(pages().trees), pages().trees.roots)
    return int(actual.found.sum()), int(actual.pages.sum()), int(actual.wanted.sum())


def names(choice: Choice) -> set[str]:
    return {name for name, flag in zip(pages().trees.names(), choice.sections, strict=True) if flag}


def test_lists_by_hand() -> None:
    lists = used(["a.example/"])
    assert {key: names(one) for key, one in lists.items()} == {
        ("baseline", "list"): {"a.example/"},
        ("baseline", "everything"): {"a.example/", "b.example/"},
        ("baseline", "majority"): {"a.example/news/", "b.example/"},
        # b has one page, and all of it is temporal: the paper's list begins with it.
        ("sites", "paper"): {"b.example/"},
        ("sites", "confident"): {"a.example/"},
        ("sections", "confident"): {"a.example/news/"},
        ("prefixes", "paper"): {"a.example/news/", "b.example/"},
        ("prefixes", "confident"): {"a.example/news/"},
    }
    assert {key: counts(one) for key, one in lists.items()} == {
        ("baseline", "list"): (3, 4, 4),
        ("baseline", "everything"): (4, 6, 4),
        ("baseline", "majority"): (4, 5, 4),
        ("sites", "paper"): (1, 2, 4),
        ("sites", "confident"): (3, 4, 4),
        ("sections", "confident"): (3, 3, 4),
        ("prefixes", "paper"): (4, 5, 4),
        ("prefixes", "confident"): (3, 3, 4),
    }


def test_curves_have_the_list_used_and_others() -> None:
    actual = list(choices(pages(), RULES, None))
    assert {point.method for point in actual} == {"baseline", "sites", "sections", "prefixes"}
    lengths = [
        point.setting for point in actual if (point.method, point.rule) == ("sites", "paper")
    ]
    assert lengths == [1, 2]
    thresholds = [
        point.setting for point in actual if (point.method, point.rule) == ("prefixes", "paper")
    ]
    assert (len(thresholds), thresholds[0], thresholds[-1]) == (19, 0.05, 0.95)
    assert sum(point.is_used for point in actual) == 7


def test_a_page_belongs_to_the_root_of_its_host() -> None:
    roots = {pages().trees.name(root) for root in pages().trees.roots.tolist()}
    assert roots == {"a.example/", "b.example/"}


def of(*sites: tuple[int, int, int]) -> SiteCounts:
    actual, covered, wanted = np.array(sites, np.int64).reshape(-1, 3).T
    return SiteCounts(actual, covered, wanted)


def test_intervals_hold_the_measure() -> None:
    draws = draw(of(*[(8, 10, 12), (3, 10, 4)] * 20))
    low, high = interval(draws.f)
    f = 2 * 11 / (20 + 16)
    assert low < f < high
    assert high - low < 0.2
    assert draws.precision.mean() == pytest.approx(0.55, abs=0.01)
    assert draws.recall.mean() == pytest.approx(11 / 16, abs=0.01)


def test_one_site_tells_nothing_of_others_and_says_so() -> None:
    assert interval(draw(of((8, 10, 12))).f) == (pytest.approx(16 / 22), pytest.approx(16 / 22))
    # All depends on whether the one good site is drawn.
    low, high = interval(draw(of((10, 10, 10), (0, 10, 0))).precision)
    assert (low, high) == (0.0, 1.0)


def test_nothing_covered_is_nothing_found() -> None:
    for counts in (of(), of((0, 0, 5), (0, 0, 0))):
        draws = draw(counts, rounds=10)
        for values in (draws.precision, draws.recall, draws.f):
            assert values.tolist() == [0.0] * 10


def test_draws_of_two_lists_are_the_same_sites() -> None:
    first = draw(of((1, 1, 1), (0, 1, 1), (1, 2, 1)))
    second = draw(of((1, 1, 1), (0, 1, 1), (1, 2, 1)))
    assert np.array_equal(first.f, second.f)
