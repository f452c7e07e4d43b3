"""Tree of the keys that lead to the fields of JSON lines, as arrays for a compiled loop.

In: the paths of each field, the most likely first. Out: `Keys`. Not here: which paths a format has
(`known_formats`, `json_columns`), the loop (`json_scan`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from temporal_assets.core.numerics.compiled import inlined
from temporal_assets.logs.fields.field_arrays import Flags
from temporal_assets.logs.fields.layouts import Slot
from temporal_assets.logs.read.records import Bytes, Offsets

Path = tuple[str, ...]
Paths = Mapping[Slot, Sequence[Path]]
"""Paths of a field, the most likely first."""

_BUCKETS: Final = 256
"""Number of hashes of keys."""


class Keys(NamedTuple):
    """Tree of the keys that lead to fields, and the paths to each field. Node 0 is the line."""

    text: Bytes
    """Bytes of all keys, concatenated."""
    start: Offsets
    stop: Offsets
    """Range of each node's key in `text`."""
    parent: Offsets
    """Node above each node; -1 for the line."""
    place: Offsets
    """Position of the list element that the key names, -1 if none."""
    has_places: Flags
    """True for nodes of which elements are looked for by position."""
    is_inner: Flags
    """True for nodes with others beneath."""
    is_value: Flags
    """True for nodes whose value may be a field."""
    bucket: Offsets
    """The first node of each hash, -1 if there is none."""
    following: Offsets
    """The next node with the same hash."""
    slot: Offsets
    """Field of each path; the paths to a field come in the order in which they are tried."""
    head: Offsets
    """First node of each path."""
    nested: Offsets
    """Last node of each path, used if its `head` exists in the line."""
    flat: Offsets
    """Node used if the `head` does not exist: some log shippers flatten objects into keys with
    dots."""


def keys_of(paths: Paths) -> Keys:
    """Return the tree of all keys that lead to a field."""
    nodes: dict[Path, int] = {(): 0}
    all_paths = [(int(slot), path) for slot, options in paths.items() for path in options]
    for _, path in all_paths:
        for length in range(1, len(path) + 1):
            nodes.setdefault(path[:length], len(nodes))
        nodes.setdefault((".".join(path),), len(nodes))
    names = [path[-1].encode() if path else b"" for path in nodes]
    parent = [nodes[path[:-1]] if path else -1 for path in nodes]
    place = [int(path[-1]) if path and path[-1].isdecimal() else -1 for path in nodes]
    lengths = np.array([len(name) for name in names], np.int64)
    nested = [nodes[path] for _, path in all_paths]
    flat = [nodes[(".".join(path),)] for _, path in all_paths]
    bucket, following = _buckets(parent, names)
    return Keys(
        text=np.frombuffer(b"".join(names) or b"\0", np.uint8),
        start=np.cumsum(lengths) - lengths,
        stop=np.cumsum(lengths),
        parent=np.array(parent, np.int64),
        place=np.array(place, np.int64),
        has_places=_among(
            len(nodes), [up for up, at in zip(parent, place, strict=True) if at >= 0]
        ),
        is_inner=_among(len(nodes), parent[1:]),
        is_value=_among(len(nodes), [*nested, *flat]),
        bucket=bucket,
        following=following,
        slot=np.array([slot for slot, _ in all_paths], np.int64),
        head=np.array([nodes[path[:1]] for _, path in all_paths], np.int64),
        nested=np.array(nested, np.int64),
        flat=np.array(flat, np.int64),
    )


def _among(count: int, members: Iterable[int]) -> Flags:
    """Return flags of a number of nodes, True for the members."""
    flags = np.zeros(count, np.bool_)
    flags[list(members)] = True
    return flags


def _buckets(parents: Sequence[int], names: Sequence[bytes]) -> tuple[Offsets, Offsets]:
    """Return a hash table of keys with chaining: first node by hash, next node by node."""
    bucket = np.full(_BUCKETS, -1, np.int64)
    following = np.full(len(names), -1, np.int64)
    for node in range(1, len(names)):
        name = names[node] or b"\0"
        at = _hash_of_key(parents[node], len(names[node]), name[0], name[-1])
        following[node], bucket[at] = bucket[at], node
    return bucket, following


def _hash_of_key(parent: int, length: int, first: int, last: int) -> int:
    """Return a hash of a key from its length and two of its bytes."""
    return (parent * 37 + length * 11 + first * 5 + last) & (_BUCKETS - 1)


key_hash: Final = inlined(_hash_of_key)
