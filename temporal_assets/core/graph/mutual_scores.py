"""Authority and hub scores of patterns: the fixed point of BB eqs 9 and 10.

Here: how the two are computed. Not here: the layout of links (`link_graph`), transits between
patterns, and the ranks (`core.patterns.behaviour_graph`).

    auth(i) = sum over j of p_out(j -> i) * hub(j)      p_out(j -> i) = transits(j, i) / F_out(j)
    hub(i)  = sum over j of p_in(i -> j) * auth(j)      p_in(i -> j)  = transits(i, j) / F_in(j)

both from the values of the round before. Two rounds multiply a hub score by a matrix M. M is
symmetric where a product of two scores weighs each pattern by 1 / F_out, so hub is its first
eigenvector. A connected site has one such vector, whatever the rounds begin with, and Lanczos'
method finds it in a quarter of the rounds: each adds a dimension to the space that the best vector
is taken from. It ends when a plain round of eq 10 moves nothing.

On a site with several components, the limit of the rounds depends on where they begin and on their
number. No other method gives the same result, so plain rounds are computed there one by one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.graph.link_graph import LinkGraph
from temporal_assets.core.numerics.arrays import Floats, Int32s, Int64s
from temporal_assets.core.numerics.compiled import kernel, making

_DIMENSIONS: Final = 24
"""Dimensions of the Krylov space before the method restarts with the best vector: one vector is
held for each, and a million patterns take 8 MB."""

_CLOSER: Final = 0.1
"""Factor on the tolerance for Lanczos' method: a plain round measures both scores, in other
units."""


class Weights(NamedTuple):
    """Weights of the links and nodes of a `LinkGraph` whose nodes are patterns."""

    transits: Floats
    """Transits of each link."""
    per_referral: Floats
    """1 / F_out of each pattern; 0 where there are no referrals."""
    per_visit: Floats
    """1 / F_in."""


class Scores(NamedTuple):
    """Authority and hub scores of all patterns, which `settle` replaces."""

    authority: Floats
    hub: Floats


class Settled(NamedTuple):
    """Iterations over the transits of each site, and how far the last of them moved its scores."""

    rounds: Int64s
    movement: Floats
    """Euclidean movement of the score that moved more."""


class _Links(NamedTuple):
    """A `LinkGraph` with its weights, as compiled code takes both."""

    first: Int64s
    target: Int32s
    transits: Floats
    per_referral: Floats
    per_visit: Floats


def settle(
    graph: LinkGraph,
    weights: Weights,
    sites: Int64s,
    pieces: Int64s,
    scores: Scores,
    tolerance: float,
    rounds: int,
) -> Settled:
    """Replace the scores of eq 9 by those of eq 10; they stay where there are no transits.

    Args:
        graph: Transits within sites as links between patterns.
        weights: Weights of these links and patterns.
        sites: Number of each site's first pattern and, at its end, the number of all patterns.
        pieces: Connected components of each site.
        scores: The scores of eq 9.
        tolerance: Movement of both scores below which they have settled.
        rounds: Most iterations.
    """
    settled = Settled(np.zeros(len(pieces), np.int64), np.zeros(len(pieces)))
    links = _Links(graph.first, graph.target, *weights)
    _settle(links, sites, pieces, *scores, tolerance, rounds, *settled)
    return settled


@making
def _settle(
    links: _Links,
    first: Int64s,
    pieces: Int64s,
    authority: Floats,
    hub: Floats,
    tolerance: float,
    rounds: int,
    done: Int64s,
    movement: Floats,
) -> None:
    """Replace the scores, and write the iterations and last movement of each site."""
    for site in range(len(pieces)):
        if pieces[site] > 0:
            start, stop = first[site], first[site + 1]
            of_authority, of_hub = authority[start:stop], hub[start:stop]
            _to_unit(of_authority)
            _to_unit(of_hub)
            used = 0
            if pieces[site] == 1:
                used = _ahead(links, start, of_hub, tolerance * _CLOSER, rounds - 1)
                _to_authority(links, start, of_hub, of_authority)
                _to_unit(of_authority)
            done[site], movement[site] = _go_round(
                links, start, of_authority, of_hub, tolerance, used, rounds
            )


@making
def _go_round(
    links: _Links,
    start: int,
    authority: Floats,
    hub: Floats,
    tolerance: float,
    done: int,
    rounds: int,
) -> tuple[int, float]:
    """Iterate eq 10 until the scores do not move any more."""
    next_authority, next_hub = np.empty_like(authority), np.empty_like(hub)
    room = np.empty_like(authority)
    moved = np.inf
    while done < rounds and moved >= tolerance:
        _to_authority(links, start, hub, next_authority)
        _to_hub(links, start, authority, room, next_hub)
        _to_unit(next_authority)
        _to_unit(next_hub)
        moved = max(_replace(authority, next_authority), _replace(hub, next_hub))
        done += 1
    return done, moved


@making
def _ahead(links: _Links, start: int, hub: Floats, tolerance: float, rounds: int) -> int:
    """Replace a hub score by M's first eigenvector, found by Lanczos' method.

    Returns the number of iterations.
    """
    weight = links.per_referral[start : start + len(hub)]
    basis, image = np.empty((_DIMENSIONS, len(hub))), np.empty_like(hub)
    inner, beside = np.zeros(_DIMENSIONS), np.zeros(_DIMENSIONS)
    authority = np.empty_like(hub)
    # Scores that no referral stands behind have no length.
    done, unsettled = 0, np.inf if _product(hub, hub, weight) > 0 else 0.0
    while done < rounds and unsettled >= tolerance:
        _scale(1.0 / np.sqrt(_product(hub, hub, weight)), hub, basis[0])
        share, used = inner[:1], 0
        while used < _DIMENSIONS and done < rounds and unsettled >= tolerance:
            this = basis[used]
            if used > 0:
                _scale(1.0 / beside[used - 1], image, this)
            _to_authority(links, start, this, authority)
            _to_hub(links, start, authority, authority, image)
            inner[used] = _product(image, this, weight)
            _add(-inner[used], this, image)
            if used > 0:
                _add(-beside[used - 1], basis[used - 1], image)
            beside[used] = np.sqrt(_product(image, image, weight))
            used += 1
            done += 1
            value, share = _best(inner[:used], beside[:used])
            unsettled = beside[used - 1] * abs(share[-1]) / value
        _mix(basis, share, hub)
        _to_unit(hub)
    return done


@making
def _best(inner: Floats, beside: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue in the Krylov space, and the coordinates of its vector."""
    size = len(inner)
    matrix = np.zeros((size, size))
    for i in range(size):
        matrix[i, i] = inner[i]
        if i > 0:
            matrix[i, i - 1] = beside[i - 1]  # only what is below the diagonal is looked at
    values, vectors = np.linalg.eigh(matrix)
    return values[-1], vectors[:, -1]


@kernel
def _mix(basis: Floats, share: Floats, mixed: Floats) -> None:
    """Write the linear combination of some vectors; negative rounding errors become 0."""
    # The sign of an eigenvector is anybody's; what it has of the one begun with is positive.
    sign = 1.0 if share[0] > 0 else -1.0
    _scale(sign * share[0], basis[0], mixed)
    for dimension in range(1, len(share)):
        _add(sign * share[dimension], basis[dimension], mixed)
    for i in range(len(mixed)):
        mixed[i] = max(mixed[i], 0.0)


@kernel
def _to_authority(links: _Links, start: int, hub: Floats, authority: Floats) -> None:
    """Write authorities from hubs (eq 10).

    Writes are scattered: the transits to one pattern are not adjacent.
    """
    base = np.uint64(start)  # unsigned, or each place is asked whether it counts from the end
    for i in range(len(authority)):
        authority[i] = 0.0
    for i in range(len(hub)):
        given = hub[i] * links.per_referral[start + i]
        for link in range(np.uint64(links.first[start + i]), np.uint64(links.first[start + i + 1])):
            authority[np.uint64(links.target[link]) - base] += links.transits[link] * given


@kernel
def _to_hub(links: _Links, start: int, authority: Floats, given: Floats, hub: Floats) -> None:
    """Write hubs from authorities (eq 10).

    `given` is working memory for what a visit of each pattern contributes.
    """
    for i in range(len(authority)):
        given[i] = authority[i] * links.per_visit[start + i]
    base = np.uint64(start)
    for i in range(len(hub)):
        total = 0.0
        for link in range(np.uint64(links.first[start + i]), np.uint64(links.first[start + i + 1])):
            total += links.transits[link] * given[np.uint64(links.target[link]) - base]
        hub[i] = total


@kernel
def _replace(old: Floats, new: Floats) -> float:
    """Copy a vector into another and return how far it moved."""
    square = 0.0
    for i in range(len(old)):
        square += (new[i] - old[i]) ** 2
        old[i] = new[i]
    return float(np.sqrt(square))


@kernel
def _to_unit(vector: Floats) -> None:
    square = 0.0
    for i in range(len(vector)):
        square += vector[i] ** 2
    if square > 0:
        _scale(1.0 / np.sqrt(square), vector, vector)


@kernel
def _scale(much: float, vector: Floats, scaled: Floats) -> None:
    for i in range(len(vector)):
        scaled[i] = much * vector[i]


@kernel
def _add(much: float, vector: Floats, total: Floats) -> None:
    for i in range(len(vector)):
        total[i] += much * vector[i]


@kernel
def _product(left_vector: Floats, other: Floats, weight: Floats) -> float:
    total = 0.0
    for i in range(len(left_vector)):
        total += left_vector[i] * other[i] * weight[i]
    return total
