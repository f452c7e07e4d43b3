"""The pattern tree of a site: URLs grouped by their keys and values, top down.

Here: construction (BB 3.1, after Lei et al., WWW 2010). Not here: the tree as a data structure
(`pattern_tree`), which nodes users' behaviour merges (`visit_cut`, `transit_cut`).

A URL is a set of keys with values (`url_keys`): host labels, path segments, the extension, query
fields. Values are integers (*codes*) that number the distinct values of a key; every value has a
*shape*: bits such as "all digits" or "a year", and a *class* that names a wildcard
(`value_shapes`).

A node is divided by the key with the lowest entropy of its values. A value is *salient* if it gets
a branch of its own (`salience`): it must at least have *support*, enough URLs of the node. All
other values share the branch `*`. Three kinds of value are treated by what they are, whatever their
frequency, because each makes a different kind of page:

* ∅, the missing key, has its own branch, so that `*` always means one value;
* so has the empty segment: `/news/` lists what `/news/a` shows;
* dates never become salient and never become fixed: a pattern that names last year is useless
  today. Where dates and names meet under one key, dates get a branch of their own. A number is a
  day or month only by the *role* of its key beside other keys (`date_roles`).

What all URLs of a node share (a constant value, a missing or always present key) belongs to the
node and makes no level: it becomes a *test* of the node. Keys that are not constant stay *open*.
Small nodes test only structure: a value that a handful of URLs share may be chance.

`_Builder` grows the nodes in preorder. For each node it counts the values of every open key
(`key_statistics`), turns what all URLs share into tests (`node_tests`), chooses the key that
divides the node, and sorts the node's URLs by the branch of their value (`node_division`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.numerics.hierarchy import hierarchy
from temporal_assets.core.patterns.pattern_tree import NO_KEY, ROOT, PatternTree
from temporal_assets.core.patterns.syntax.date_parts import roles_of
from temporal_assets.core.patterns.syntax.growing_site import GrowingSite
from temporal_assets.core.patterns.syntax.key_statistics import key_statistics
from temporal_assets.core.patterns.syntax.node_division import Branches, NodeDivider
from temporal_assets.core.patterns.syntax.node_tests import NodeTests, Required
from temporal_assets.core.patterns.syntax.passing_values import PassingValues
from temporal_assets.core.patterns.syntax.public_values import everything_public, public_values
from temporal_assets.core.text.running_values import births
from temporal_assets.core.text.texts import Texts
from temporal_assets.core.text.url_keys import decompose
from temporal_assets.core.traffic.audience import Audience

Salience = Literal["support", "drop"]


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """Options for dividing a site."""

    min_urls: int = 10
    """Support: nodes with fewer URLs are leaves, and no rarer value is salient."""
    min_share: float = 1e-4
    """Support as a share of the site's URLs, for large sites; the larger of the two counts."""
    salience: Salience = "support"
    """Rule that decides which values get a branch of their own (`salience`)."""
    most_urls: int = 3_000_000
    """Number of URLs above which a site is learned from a sample of that size (`sampled_tree`)."""

    def support(self, urls: int) -> int:
        """Return the support of a site with `urls` URLs."""
        return max(self.min_urls, int(np.ceil(self.min_share * urls)))


def pattern_tree(
    urls: Texts,
    options: TreeOptions | None = None,
    audience: Audience | None = None,
    born: Int32s | Int64s | None = None,
) -> PatternTree:
    """Return the tree T_syn of one site.

    Args:
        urls: Distinct canonical URLs of the site.
        options: Support and salience.
        audience: Clients of the URLs. If given, no pattern names a value that too few clients asked
            for: such values stay under `*`.
        born: Day on which each URL was first seen. If given, no pattern names a value that passes
            with time (`running_values`).
    """
    if len(urls) == 0:
        raise ValueError("a site without URLs has no patterns")
    options = options or TreeOptions()
    support = options.support(len(urls))
    keys = decompose(urls, min(support, len(urls)))
    public = public_values(keys, audience, support) if audience else everything_public(keys)
    by_support = options.salience == "support"
    return _Builder(GrowingSite(keys, support, public, by_support, births(born))).build()


@dataclass(slots=True)
class _Task:
    """A node that is still to be built, with its URLs `order[start:stop]`."""

    parent: int
    branch: int
    start: int
    stop: int
    open_keys: Int32s
    """Keys whose value the nodes above do not fix."""
    divided: frozenset[int]
    """Keys that divide the nodes above."""
    required: Required
    """Shape bits and class that tests of the nodes above require, by key."""


class _Builder:
    """Builder of one tree, from the root down."""

    def __init__(self, site: GrowingSite) -> None:
        """Begin with all URLs of a site at the root."""
        passing = PassingValues(site)
        self.site = site
        self.divider = NodeDivider(site, passing)
        self.tests = NodeTests(site, passing)
        self.nodes: list[tuple[int, int, int, int, int, int]] = []
        """Parent, branch, split key, split bit, start and stop of each node so far."""

    def build(self) -> PatternTree:
        """Grow all nodes and return the tree."""
        site = self.site
        open_keys = np.flatnonzero(site.public.is_key_public).astype(np.int32)
        root = _Task(-1, ROOT, 0, len(site.order), open_keys, frozenset(), {})
        waiting = [root]
        while waiting:
            # The last task is the next child in preorder.
            waiting.extend(reversed(self._grow(waiting.pop())))
        nodes = np.array(self.nodes, np.int64).reshape(-1, 6)
        tests = np.array(self.tests.rows, np.int32).reshape(-1, 5)
        return PatternTree(
            site.keys,
            hierarchy(nodes[:, 0]),
            nodes[:, 1].astype(np.int32),
            nodes[:, 2].astype(np.int32),
            nodes[:, 3].astype(np.int32),
            site.order,
            nodes[:, 4].copy(),
            nodes[:, 5].copy(),
            np.searchsorted(tests[:, 0], np.arange(len(nodes) + 1)).astype(np.int64),
            tests[:, 1].copy(),
            tests[:, 2].copy(),
            tests[:, 3].copy(),
            tests[:, 4].astype(np.int8),
        )

    def _grow(self, task: _Task) -> list[_Task]:
        """Build the node of a task and return the tasks of its children."""
        site = self.site
        node = len(self.nodes)
        rows = site.order[task.start : task.stop]
        statistics = key_statistics(site, rows, task.open_keys)
        open_keys = task.open_keys.tolist()
        roles = roles_of(site, open_keys, statistics)
        required = dict(task.required)
        still_open = [
            i
            for i, key in enumerate(open_keys)
            if not self.tests.close(node, i, key, statistics, roles[i], rows, required)
        ]
        key, bit, branches = NO_KEY, 0, Branches()
        if len(rows) >= site.support:
            candidates = [i for i in still_open if open_keys[i] not in task.divided]
            key, bit, branches = self.divider.divide(rows, open_keys, statistics, roles, candidates)
        self.nodes.append((task.parent, task.branch, key, bit, task.start, task.stop))
        left = task.open_keys[still_open]
        children = []
        start = task.start
        for branch, count in branches:
            children.append(
                _Task(node, branch, start, start + count, left, task.divided | {key}, required)
            )
            start += count
        return children
