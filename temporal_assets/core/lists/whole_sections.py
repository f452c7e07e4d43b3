"""Choice of the sections that represent a site in a ranked list, so that none overlap.

Here: where a tree is split. Not here: scores (`site_scores`), trees (`url_sections`).

All sections of a site are nested, from the root to the last folder, so that a list of all of them
would count pages many times. A section is split when a section below it is certainly better: when
the lower bound of that one's score is above the score of the whole. The sections listed are those
that are not split while all above them are. A homogeneous site is listed as its root; a mixed site
as its news section, and its other sections apart from it.
"""

from __future__ import annotations

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s
from temporal_assets.core.numerics.compiled import loop


def whole_sections(parent: Int32s, score: Floats, bound: Floats, counts: Flags) -> Flags:
    """Return flags of the sections to list.

    Args:
        parent: The section above each, -1 for a root; parents come before their children.
        score: Score of each section.
        bound: Lower bound of each score.
        counts: True for sections with enough pages to split the sections above them.
    """
    flags: Flags = _whole(parent, score, bound, counts)
    return flags


@loop
def _whole(parent: Int32s, score: Floats, bound: Floats, counts: Flags) -> Flags:
    """Mark sections to list whole: none beneath has a better bound than their score."""
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
