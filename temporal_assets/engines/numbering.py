"""Distinct values of a column in their order, and the place among them of each row's.

Here: columns in this process, which come as dictionaries. Not here: what places are good for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from temporal_assets.core.numerics.arrays import Int32s

NOWHERE: Final = -1
"""The place of a row that is NULL."""

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
    codes = (codes_of_column.indices.fill_null(-1).to_numpy() for codes_of_column in alike)
    return values.take(order), np.concatenate(
        [places[codes_of_column] for codes_of_column in codes]
    )


def order_of_integers(values: pa.Array) -> pa.Array:
    """Return `array_sort_indices` of distinct values, in a quarter of its time."""
    return pa.array(np.argsort(values.to_numpy()))
