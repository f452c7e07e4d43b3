"""What the command says of merged nodes."""

from __future__ import annotations

from typing import Any

import pytest

from temporal_assets.cli.reports.pattern_node import _decided
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
