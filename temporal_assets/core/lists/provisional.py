"""Shares of fading pages by section and pattern, where pages have no labels yet.

Here: drawing the share of each section towards that of the section above (empirical Bayes), and the
sections to list. Not here: the probability of each page (`core.labels.fading`), and sections whose
pages have labels (`flow`, `prefix_tree`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from temporal_assets.core.lists.flow import Evidence, FlowPrior, flow_shares
from temporal_assets.core.lists.prefix_tree import PrefixRule, listed_sections
from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s

URGENT_SHARE: Final = 0.4
"""Share of fading pages above which new pages are fetched now: half of the best F that is usual
(Lipton et al. 2014), as `prefixes.threshold` has it for `confident`."""

STRENGTH: Final = 4.0
"""Number of pages that the share of the section above counts for (shrinkage)."""

_RULE: Final = PrefixRule(threshold=URGENT_SHARE)


def section_shares(parent: Int32s, pages: Floats, fading: Floats, site_share: float) -> Floats:
    """Return the expected share of fading pages of each section.

    Args:
        parent: The section above each, -1 for a root; parents come before their children.
        pages: Number of pages in each section and below.
        fading: Expected number of fading pages among them.
        site_share: Share of all pages of the site.
    """
    nothing = np.zeros(len(pages))
    prior = FlowPrior(site_share, root_strength=STRENGTH, strength=STRENGTH)
    shares = flow_shares(parent, Evidence(pages, fading, nothing, nothing), prior, _RULE.confidence)
    return shares.score


def sections_to_list(
    parent: Int32s, pages: Floats, share: Floats, dated: Flags, passing: Flags
) -> Flags:
    """Return flags of the sections to list: worth it as a whole, and with none above that is.

    Args:
        parent: See `section_shares`.
        pages: See `section_shares`.
        share: Result of `section_shares`.
        dated: Folders of a date, which split nothing.
        passing: Folders of a month or a day, below which soon no page is born.
    """
    return listed_sections(parent, pages, share, (share > URGENT_SHARE) & ~passing, _RULE, dated)


def pattern_shares(
    pattern: NDArray[np.int64], probability: Floats, patterns: int, site_share: float
) -> tuple[Floats, Floats]:
    """Return the number of judged pages of each pattern, and the pattern's share of fading ones.

    Args:
        pattern: Pattern of each page; -1 for none.
        probability: Probability of each page to fade.
        patterns: Number of patterns.
        site_share: Share of all pages of the site.
    """
    has_pattern = pattern >= 0
    pages = np.bincount(pattern[has_pattern], minlength=patterns).astype(np.float64)
    fading = np.bincount(pattern[has_pattern], probability[has_pattern], patterns)
    share: Floats = (fading + STRENGTH * site_share) / (pages + STRENGTH)
    return pages, share
