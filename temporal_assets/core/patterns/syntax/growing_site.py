"""A site whose pattern tree is being grown: its URLs, its options, and scratch for loops.

Here: what all steps of building share. Not here: the steps (`tree_builder`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s
from temporal_assets.core.patterns.syntax.public_values import PublicValues
from temporal_assets.core.text.running_values import Births
from temporal_assets.core.text.url_keys import UrlKeys


@dataclass(slots=True)
class GrowingSite:
    """The URLs of a site, in an order in which those of each node so far are adjacent."""

    keys: UrlKeys
    """Keys and codes of the URLs."""
    support: int
    """Number of URLs from which on a node is divided and a value is salient."""
    public: PublicValues
    """Values that may be named."""
    by_support: bool
    """True for the rule `support` of `salience`, False for `drop`."""
    born: Births | None
    """Days on which the URLs were first seen, if known."""
    kind: list[int] = field(init=False)
    """Kind of each key; as Python's own numbers, because they are asked for one by one."""
    index: list[int] = field(init=False)
    """Index of each key within its kind."""
    order: Int32s = field(init=False)
    """Numbers of the URLs."""
    spare: Int32s = field(init=False)
    """Scratch with one entry per URL."""
    counts: Int32s = field(init=False)
    """Scratch with one entry per code of a key; all zeros between calls."""
    touched: Int32s = field(init=False)
    """Scratch that lists codes."""

    def __post_init__(self) -> None:
        self.kind = self.keys.keys.kind.tolist()
        self.index = self.keys.keys.index.tolist()
        urls = self.keys.codes.shape[1]
        most = int(np.diff(self.keys.first).max(initial=0))
        self.order = np.arange(urls, dtype=np.int32)
        self.spare = np.empty(urls, np.int32)
        self.counts = np.zeros(most + 1, np.int32)
        self.touched = np.empty(most + 1, np.int32)
