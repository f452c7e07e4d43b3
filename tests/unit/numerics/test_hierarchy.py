"""Trees as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from temporal_assets.core.numerics.hierarchy import hierarchy

#        0
#      1   5
#    2  3   6
#       4
PARENTS = [-1, 0, 1, 1, 3, 0, 5]


def test_measures() -> None:
    tree = hierarchy(PARENTS)
    assert tree.depth.tolist() == [0, 1, 2, 2, 3, 1, 2]
    assert tree.end.tolist() == [7, 5, 3, 5, 5, 7, 7]
    assert np.flatnonzero(tree.is_leaf).tolist() == [2, 4, 6]
    assert tree.children(0) == [1, 5]
    assert tree.children(1) == [2, 3]
    assert tree.children(4) == []
    assert tree.height == 3


def test_cut_keeps_what_is_above_the_new_leaves() -> None:
    tree = hierarchy(PARENTS)
    leaf = np.array([False, False, False, True, False, True, False])
    assert np.flatnonzero(tree.cut(leaf)).tolist() == [0, 1, 2, 3, 5]


@pytest.mark.parametrize("parents", [[], [0], [-1, 1], [-1, 2, 0], [-1, 0, 0, 1], [-1, -1]])
def test_disorder_is_refused(parents: list[int]) -> None:
    with pytest.raises(ValueError, match="node"):
        hierarchy(parents)
