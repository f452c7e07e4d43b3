"""Distinct clients of groups of URLs, counted up to the number that makes a group public.

Here: exact counting up to this bound, in little memory. Not here: what the groups are
(`public_values`, nodes of a tree), and who the clients are: they are integers.

A URL with enough clients makes its group public alone. All other URLs have fewer clients than the
bound, so that storing all of these is cheap and the union is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from temporal_assets.core.numerics.arrays import Flags, Int32s, Int64s
from temporal_assets.core.numerics.compiled import leaf
from temporal_assets.core.numerics.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Audience:
    """Clients of each URL of a site."""

    least: int
    """Number of distinct clients that makes a group public."""
    clients: Int64s
    """Number of distinct clients of each URL."""
    few: Int64s
    """The clients of the URLs that have fewer than `least`, one URL after the other."""
    first: Int64s
    """Shape (urls + 1): the clients of URL u are `few[first[u]:first[u + 1]]`."""


def is_public(audience: Audience, group_of_url: Int32s, groups: int) -> Flags:
    """Return flags of the groups of URLs with enough clients; URLs of no group have group -1."""
    count, _ = _gather(group_of_url, groups, audience)
    flags: Flags = count >= audience.least
    return flags


def public_nodes(audience: Audience, tree: Hierarchy, leaf_of_url: Int32s) -> Flags:
    """Return flags of the nodes of a tree with enough clients, given the leaf of every URL."""
    count, seen = _gather(leaf_of_url, len(tree), audience)
    _unite(tree.parent, count, seen)
    flags: Flags = count >= audience.least
    return flags


def _gather(group_of_url: Int32s, groups: int, audience: Audience) -> tuple[Int64s, Int64s]:
    count, seen = np.zeros(groups, np.int64), np.zeros((groups, audience.least), np.int64)
    _collect(group_of_url, audience.clients, audience.first, audience.few, count, seen)
    return count, seen


@leaf
def _collect(
    group_of_url: Int32s,
    clients: Int64s,
    first: Int64s,
    few: Int64s,
    count: Int64s,
    seen: Int64s,
) -> None:
    least = seen.shape[1]
    for url in range(len(group_of_url)):
        group = group_of_url[url]
        if group < 0 or count[group] >= least:
            continue
        if clients[url] >= least:
            count[group] = least
        for row in range(first[url], first[url + 1]):
            _add(group, few[row], count, seen)


@leaf
def _unite(parent: Int32s, count: Int64s, seen: Int64s) -> None:
    """Add the clients of each node to its parent."""
    least = seen.shape[1]
    for node in range(len(parent) - 1, 0, -1):
        above = parent[node]
        if count[node] >= least:
            count[above] = least
        else:
            for i in range(count[node]):
                _add(above, seen[node, i], count, seen)


@leaf
def _add(group: int, client: int, count: Int64s, seen: Int64s) -> None:
    """Count a client once for a group that has not reached the bound."""
    filled = count[group]
    if filled >= seen.shape[1]:
        return
    for i in range(filled):
        if seen[group, i] == client:
            return
    seen[group, filled] = client
    count[group] = filled + 1
