"""Sections that stand for a site in a ranked list: as much of it as is of one kind.

Here: where a tree is split. Not here: scores (`site_scores`), trees (`url_sections`).

All sections of a site overlap, from the root to the last folder, so that a list of them would
count pages many times. A section is split when one beneath it is certainly better: when that
one's bound is above the score of the whole. Sections that are not split, while all above them are,
are listed as a whole. A site of one kind is its root; a mixed site is its news section, and its
others apart from it.
"""

from __future__ import annotations

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s
from temporal_assets.core.numerics.compiled import loop


def whole_sections(parent: Int32s, score: Floats, bound: Floats, counts: Flags) -> Flags:
    """Return which sections are listed as a whole.

    Args:
        parent: The section above each, -1 for a root; parents come before their children.
        score: One a section.
        bound: Its lower bound.
        counts: Whether a section has enough pages to be a reason for a split.
    """
    flags: Flags = _whole(parent, score, bound, counts)
    return flags


@loop
def _whole(parent: Int32s, score: Floats, bound: Floats, counts: Flags) -> Flags:
    best = np.full(len(parent), -1.0)  # bound of the best section beneath
    for section in range(len(parent) - 1, -1, -1):
        above = parent[section]
        if above >= 0:
            own = bound[section] if counts[section] else -1.0
            best[above] = max(best[above], best[section], own)
    is_split = best > score
    whole = np.zeros(len(parent), np.bool_)
    all_split = np.zeros(len(parent), np.bool_)  # the section and all above it
    for section in range(len(parent)):
        above = parent[section]
        reached = above < 0 or all_split[above]
        whole[section] = reached and not is_split[section]
        all_split[section] = reached and is_split[section]
    return whole
