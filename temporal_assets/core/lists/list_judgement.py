"""Lists that are made from some pages and judged by others (TW Table 1, NP Table 2).

Here: which sections each way of making a list chooses, and what the choice covers. Not here: the
rules themselves (`site_scores`, `whole_sections`, `prefix_tree`), intervals (`site_bootstrap`), and
which pages are learned from (`windows.evaluation.seed_evaluation`).

A list is a set of sections: whole hosts, or folders and programs. It covers the pages that lie in
them. Every list is made from the known pages and judged by the judged pages: the same pages in
sample, others out of time. The lists, by `method`, `rule` and `setting` of a `Choice`:

* baseline: list (the seed list that crawlers follow today), everything or majority; no setting
* sites: paper or confident; the length of the list
* sections: confident; the length of the list
* prefixes: paper or confident; the threshold

Lists and policies that were published (rule `published`, no setting) come from `seed_evaluation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from temporal_assets.core.lists.dated_sections import dated_sections
from temporal_assets.core.lists.prefix_tree import PAPER_RULE, PrefixRule, news_prefixes
from temporal_assets.core.lists.site_bootstrap import SiteCounts
from temporal_assets.core.lists.site_scores import PAPER, Counts, Scoring, ranking, score
from temporal_assets.core.lists.whole_sections import whole_sections
from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.text.url_sections import SectionTrees

THRESHOLDS: Final = tuple(round(0.05 * n, 2) for n in range(1, 20))
"""Thresholds at which the curve of prefix lists is computed."""

_LONGEST: Final = 200
"""Longest list on the curve of sites: twice TW's list."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Known and judged pages; arrays have one entry per page."""

    trees: SectionTrees
    """Sections of the pages: hosts, folders and programs."""
    is_known: Flags
    """True for pages that lists are built from."""
    is_settled: Flags
    """True for known pages that are old enough to have a label, true or false."""
    label: Flags
    """Label of known pages on the day the lists were built."""
    views: Int64s
    """Views of known pages until that day."""
    is_judged: Flags
    """True for pages that lists are judged by."""
    truth: Flags
    """Label of judged pages from the views they got in the end."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules by which our lists are built; the papers' lists have rules of their own."""

    scoring: Scoring
    """Rule for lists of sites and sections."""
    prefix: PrefixRule
    """Rule for lists of prefixes."""
    length: int
    """Length of the lists of sites and sections: that of the seed list that crawlers follow
    today, as in the papers, or as configured."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A list to judge."""

    method: str
    """Method by which the list is built: baseline, sites, sections, prefixes or policy."""
    rule: str
    """Variant of the method: list, everything or majority; paper or confident; published."""
    setting: float | None
    """Length of the list, or threshold of prefixes."""
    is_used: bool
    """True for a baseline or a list of the configured setting; others are points of curves."""
    sections: Flags
    """Flags of the chosen sections."""
    covered: Flags | None = None
    """Flags of the covered pages, for a list that is not a set of sections."""

    def covers(self, trees: SectionTrees) -> Flags:
        """Return flags of the pages that the list covers."""
        return trees.covered(self.sections) if self.covered is None else self.covered


def choices(pages: Pages, rules: Rules, baseline: Flags | None) -> Iterator[Choice]:
    """Yield all lists to judge, baselines first.

    Args:
        pages: Pages to learn from and to judge by.
        rules: Rules of our lists.
        baseline: Flags of the sections on the seed list that crawlers follow today, if they follow
            one.
    """
    if baseline is not None:
        yield Choice("baseline", "list", None, True, baseline)
    yield Choice("baseline", "everything", None, True, pages.trees.parent < 0)
    yield Choice("baseline", "majority", None, True, majority(pages))
    names = pages.trees.names()
    yield from _ranked(pages, rules, names)
    yield from _prefixes(pages, rules.prefix, names)


def _ranked(pages: Pages, rules: Rules, names: list[str]) -> Iterator[Choice]:
    """Yield the lists of sites by both rules, and of sections by ours, of every length."""
    counts = _counts(pages)
    roots = pages.trees.parent < 0
    for rule, scoring in (("paper", PAPER), ("confident", rules.scoring)):
        order = ranking(counts, names, scoring, roots)
        yield from _lists("sites", rule, order, len(names), rules.length)
    scores = score(counts, rules.scoring)
    enough = counts.pages >= rules.scoring.min_pages
    whole = whole_sections(pages.trees.parent, scores.score, scores.bound, enough)
    order = ranking(counts, names, rules.scoring, whole)
    yield from _lists("sections", "confident", order, len(names), rules.length)


def _prefixes(pages: Pages, confident: PrefixRule, names: list[str]) -> Iterator[Choice]:
    """Yield the lists of prefixes by both rules, at every threshold."""
    dated = dated_sections(names)
    for rule, own in (("paper", PAPER_RULE), ("confident", confident)):
        for threshold in sorted({*THRESHOLDS, own.threshold}):
            used = replace(own, threshold=threshold)
            # Pages too young for a label say nothing of a folder, but the paper counts them.
            counted = pages.is_known if rule == "paper" else pages.is_settled
            chosen = news_prefixes(pages.trees, pages.label, used, counted, dated)
            yield Choice("prefixes", rule, threshold, threshold == own.threshold, chosen)


def majority(pages: Pages) -> Flags:
    """Return the top folders and programs with a majority of wanted pages among the known ones.

    A site without folders is one section. This baseline needs no statistics; learned lists must
    beat it.
    """
    trees, settled = pages.trees, pages.is_known & pages.is_settled
    settled_pages = trees.total(settled.astype(np.int64))
    wanted = trees.total((settled & pages.label).astype(np.int64))
    has_children = np.zeros(len(trees), np.bool_)
    has_children[trees.parent[(trees.parent >= 0) & (settled_pages > 0)]] = True
    is_top = (trees.depth == 1) | ((trees.depth == 0) & ~has_children)
    flags: Flags = is_top & (2 * wanted > settled_pages)
    return flags


def coverage(pages: Pages, covered: Flags, site: Int32s) -> SiteCounts:
    """Return the counts of judged pages that a list covers, by site.

    `covered` and `site` have one entry per page; sites without a judged page are left out.
    """
    number = len(pages.trees)
    covered = covered & pages.is_judged
    wanted = pages.truth & pages.is_judged

    def by_site(flags: Flags) -> Int64s:
        return np.bincount(site[flags], minlength=number).astype(np.int64)

    has_pages = by_site(pages.is_judged) > 0
    return SiteCounts(
        by_site(covered & wanted)[has_pages],
        by_site(covered)[has_pages],
        by_site(wanted)[has_pages],
    )


def _counts(pages: Pages) -> Counts:
    """Return the counts of every section, with all beneath it, from known pages."""
    is_known, label = pages.is_known, pages.label & pages.is_known
    views = np.where(is_known, pages.views, 0)
    total = pages.trees.total
    return Counts(
        total(is_known.astype(np.int64)),
        total(label.astype(np.int64)),
        total(views),
        total(np.where(label, views, 0)),
        total(views**2).astype(np.float64),
    )


def _lists(method: str, rule: str, order: Int64s, sections: int, length: int) -> Iterator[Choice]:
    """Yield the first K of a ranking, for each K up to the longest and the configured length."""
    lengths = sorted({*range(1, min(_LONGEST, len(order)) + 1), length})
    for k in lengths:
        chosen = np.zeros(sections, np.bool_)
        chosen[order[:k]] = True
        yield Choice(method, rule, float(k), k == length, chosen)
