"""Distinct values of a column in their order, and the place among them of each row's.

Here: columns in this process, which come as dictionaries. Not here: what places are good for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from temporal_assets.core.numerics.arrays import Int32s, Int64s
from temporal_assets.core.text.sorted_texts import Keys, merged
from temporal_assets.core.text.texts import texts
from temporal_assets.engines.arrow_texts import from_arrow
from temporal_assets.engines.batches import in_order

NOWHERE: Final = -1
"""The place of a row that is NULL."""

_THREADS: Final = 2
"""Halves of the texts."""

Pieces = Sequence[pa.DictionaryArray]
Numbered = tuple[pa.Array, Int32s]
"""Distinct values, ascending, and the place among them of each row's."""


def numbered(pieces: Pieces, order_of: Callable[[pa.Array], pa.Array]) -> Numbered:
    """Distinct values of all pieces, ascending, and the place among them of each row's.

    That of a row that is NULL is `NOWHERE`.
    """
    alike = pa.chunked_array(pieces).unify_dictionaries().chunks
    values = alike[0].dictionary
    order = order_of(values)
    places = np.full(len(values) + 1, NOWHERE, np.int32)
    places[order.to_numpy()] = np.arange(len(values), dtype=np.int32)
    # -1 looks up the last, which is no value.
    codes = (one.indices.fill_null(-1).to_numpy() for one in alike)
    return values.take(order), np.concatenate([places[one] for one in codes])


def order_of_integers(values: pa.Array) -> pa.Array:
    """As `array_sort_indices` of distinct values, in less than a quarter of its time."""
    return pa.array(np.argsort(values.to_numpy()))


def order_of_texts(values: pa.Array) -> pa.Array:
    """As `array_sort_indices`, of distinct values: two halves side by side, which are merged."""
    half = len(values) // 2
    halves = (values.slice(0, half), values.slice(half))
    (one, ascending), (other, others) = in_order(_sorted_texts, halves, _THREADS)
    place, other_place = merged(ascending, others)
    order = np.concatenate([one, half + other])
    return pa.array(order[np.where(place >= 0, place, half + other_place)])


def _sorted_texts(values: pa.Array) -> tuple[Int64s, Keys]:
    order = pc.array_sort_indices(values)
    alike = np.zeros(len(values), np.int32)
    return order.to_numpy().astype(np.int64), Keys(
        texts([""]), alike, from_arrow(values.take(order))
    )
