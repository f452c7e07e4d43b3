"""Pieces of a graph that no link connects.

Here: how many there are, of the graph and of what authority and hub go along. Not here: what they
are counted for (`behaviour_graph`, `mutual_scores`).

Each pattern is two ends, one that gives and one that gets, and a link connects the first of one
pattern with the second of another. Scores go from ends to ends and never from one end of a pattern
to the other: they know more pieces than the graph, in which both ends are one.
"""

from __future__ import annotations

from temporal_assets.core.numerics.arrays import Flags, Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import inlined, leaf


@leaf
def count_pieces(
    first: Int64s,
    first_link: Int64s,
    goal: Int32s,
    links: Floats,
    above: Int32s,
    has: Flags,
    of_graph: Int64s,
    of_ends: Int64s,
) -> None:
    """Pieces of the graph of each site, and pieces of its ends.

    `first` has the number of each site's first pattern, and behind them that of all patterns;
    links of a pattern lie from `first_link` of it on, lead to patterns of its site, and weigh
    nothing or more. `above` is room for two numbers a pattern, and `has` comes as False: it says of
    the ends that give, and behind them of those that get, whether they have a link. Patterns
    without any are no piece.
    """
    patterns = len(first_link) - 1
    for end in range(len(above)):
        above[end] = end
    for site in range(len(of_ends)):
        pieces = 0
        for i in range(first[site], first[site + 1]):
            top = _top(above, i)
            for link in range(first_link[i], first_link[i + 1]):
                if links[link] > 0:
                    end = patterns + goal[link]
                    pieces += _see(has, i) + _see(has, end)
                    other = _top(above, end)
                    if other != top:
                        pieces -= 1
                        top = _one(above, top, other)
        of_ends[site] = pieces
        for i in range(first[site], first[site + 1]):
            if has[i] and has[patterns + i]:
                top, other = _top(above, i), _top(above, patterns + i)
                if other != top:
                    pieces -= 1
                    _one(above, top, other)
        of_graph[site] = pieces


@inlined
def _see(has: Flags, end: int) -> int:
    """1 for an end that was not seen before."""
    is_new = 0 if has[end] else 1
    has[end] = True
    return is_new


@inlined
def _top(above: Int32s, end: int) -> int:
    """The end that stands for the piece of this one; the way there becomes half as long."""
    while above[end] != end:
        above[end] = above[above[end]]
        end = above[end]
    return end


@inlined
def _one(above: Int32s, top: int, other: int) -> int:
    """Make two pieces one. The lower number stands for it: a large piece keeps the one it has."""
    lower, higher = min(top, other), max(top, other)
    above[higher] = lower
    return lower
