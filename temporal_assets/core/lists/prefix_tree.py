"""News prefixes: the sections under which enough pages are news (NP 5.2).

Here: the walk over the trees, with the paper's rule and with ours. Not here: the trees
(`url_sections`), which pages are news (`labels`), choosing the threshold (`list_tuning`).

The score of a section is the share of news among all pages in it and beneath. The walk begins at
each root and stops at the first section whose score is above the threshold; otherwise it goes on
to the sections beneath. Ours differs in what it compares: a section needs `min_pages` pages, it is
Wilson's lower bound of its score that must be above the threshold, and no section beneath may be
certainly below it: a portal is split, and its evergreen folder left out. The smaller its part of
the pages, the surer that must be (Bonferroni, weighted by pages): of sixty folders of a day each,
one or two look evergreen by chance, and what the walk would go down to are folders of days that are
over. Folders of a year, a month or a day split nothing: of one that is over only what is still
read is left, and that is no news. A walk that stops gives no prefix that lies under another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from temporal_assets.core.lists.dated_sections import dated_sections, passing_sections
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s
from temporal_assets.core.numerics.compiled import loop
from temporal_assets.core.numerics.proportions import PLAIN, chance_of_less, lower_bound, share
from temporal_assets.core.text.url_sections import SectionTrees


@dataclass(frozen=True, slots=True)
class PrefixRule:
    """The rule that makes a section a news prefix.

    The defaults are ours (docs/sites-and-prefixes.md).
    """

    threshold: float = 0.4
    """F is largest when all above half of the best F are taken (Lipton et al. 2014), and the best
    F is about 0.8."""
    min_pages: int = 3
    confidence: float = 0.8
    splits_mixed: bool = True
    """True if a section is no prefix while a section below it is certainly not worth it."""


PAPER_RULE: Final = PrefixRule(0.8, 1, PLAIN, splits_mixed=False)
"""NP 5.2 and 6.1: the plain share, however few the pages."""


@dataclass(frozen=True, slots=True)
class PrefixScores:
    """Scores of prefixes, one row per section."""

    score: Floats
    bound: Floats
    is_prefix: Flags
    """True for sections where the walk stops: the news prefixes."""


def score_sections(
    parent: Int32s, pages: ArrayLike, news: ArrayLike, rule: PrefixRule, dated: Flags | None = None
) -> PrefixScores:
    """Score every section and walk the trees.

    Args:
        parent: The section above each, -1 for a root; parents come before their children.
        pages: All pages in each section and beneath.
        news: Those of them that are news.
        rule: What a prefix needs.
        dated: Folders of a date (`dated_sections`), which split nothing.
    """
    n = np.asarray(pages, np.int64)
    score = share(news, n)
    bound = lower_bound(score, n, rule.confidence)
    good = (n >= max(rule.min_pages, 1)) & (bound > rule.threshold)
    return PrefixScores(score, bound, listed_sections(parent, n, score, good, rule, dated))


def listed_sections(
    parent: Int32s,
    pages: ArrayLike,
    score: Floats,
    good: Flags,
    rule: PrefixRule,
    dated: Flags | None = None,
) -> Flags:
    """Walk the trees and return the sections at which the walk stops.

    Args:
        parent: See `score_sections`.
        pages: See `score_sections`.
        score: Share that is compared with the threshold.
        good: Sections that are worth it as a whole.
        rule: What splits them.
        dated: See `score_sections`.
    """
    n = np.asarray(pages)
    if rule.splits_mixed:
        cases = np.maximum(n, 1)
        chance = chance_of_less(score, n, rule.threshold) / cases
        asked = n >= max(rule.min_pages, 1)
        if dated is not None:
            asked &= ~dated
        least = _least_beneath(parent, np.where(asked, chance, np.inf))
        good = good & (least * cases > 1 - rule.confidence)
    stops: Flags = _walk(parent, good)
    return stops


def news_prefixes(
    trees: SectionTrees,
    is_news: ArrayLike,
    rule: PrefixRule,
    learned_from: ArrayLike | None = None,
    dated: Flags | None = None,
) -> Flags:
    """Return flags of the sections of `trees` that are news prefixes.

    Args:
        trees: The sections of all pages (`url_sections.section_trees`).
        is_news: Shape (pages).
        rule: What a prefix needs.
        learned_from: Shape (pages): pages to learn from; all by default. `trees.covered(result)`
            then says which of all pages the prefixes reach, learned from or not.
        dated: Folders of a date, where the caller knows them already.
    """
    news = np.asarray(is_news, np.bool_)
    learned = (
        np.ones(len(news), np.bool_) if learned_from is None else np.asarray(learned_from, np.bool_)
    )
    pages: NDArray[np.int64] = trees.total(learned.astype(np.int64))
    if rule.splits_mixed and dated is None:
        dated = dated_sections(trees.names())
    news_pages = trees.total((news & learned).astype(np.int64))
    return score_sections(trees.parent, pages, news_pages, rule, dated).is_prefix


def flow_prefixes(
    trees: SectionTrees,
    score: Floats,
    pages: Floats,
    temporal: Floats,
    rule: PrefixRule,
    names: Sequence[str],
) -> Flags:
    """Return flags of the sections of `trees` that are prefixes by their flow.

    Args:
        trees: The sections of all pages.
        score: Expected share of temporal pages among the new ones of each (`core.lists.flow`).
        pages: Weighted pages of each section: those of the flow, and older ones with their weight.
        temporal: Temporal pages among them.
        rule: `threshold` for `score`; `min_pages` and `confidence` for splitting.
        names: Names of the sections.
    """
    enough = pages >= rule.min_pages
    chance = chance_of_less(share(temporal, pages), pages, rule.threshold)
    asked = enough & ~dated_sections(names)
    least = _least_beneath(trees.parent, np.where(asked, chance / np.maximum(pages, 1.0), np.inf))
    is_split = np.isfinite(least) & (least <= (1 - rule.confidence) / np.maximum(pages, 1.0))
    good = (score > rule.threshold) & ~passing_sections(names) & ~is_split
    prefixes: Flags = _walk(trees.parent, good)
    return prefixes


@loop
def _least_beneath(parent: Int32s, value: Floats) -> Floats:
    """Return the smallest value among the sections below each; infinity where there are none."""
    least = np.full(len(parent), np.inf)
    for section in range(len(parent) - 1, -1, -1):
        above = parent[section]
        if above >= 0:
            least[above] = min(least[above], least[section], value[section])
    return least


@loop
def _walk(parent: Int32s, good: Flags) -> Flags:
    """Return flags of the good sections that do not lie below another good one."""
    prefixes = np.zeros(len(parent), np.bool_)
    above = np.zeros(len(parent), np.bool_)  # the section or one above it is good
    for section in range(len(parent)):
        over = parent[section]
        passed = over >= 0 and above[over]
        prefixes[section] = good[section] and not passed
        above[section] = good[section] or passed
    return prefixes
