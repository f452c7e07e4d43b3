"""Sums over the days of a page for some cells of a grid, kept in the processor's registers.

Here: the one loop of `starts` that the compiler does not find by itself. Whether sums and table
overlap it would ask anew for every few days, and load and store the sums each time: twice as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Singles = NDArray[np.float32]

TILE: Final = 64
"""Cells that are summed at once: four of the widest registers, as many as it takes to have a next
sum at hand while the last is added to. 60 days of them are half of the nearest memory."""

_SUMS: Final = ir.VectorType(ir.FloatType(), TILE)
_SINGLE: Final = 4
"""Bytes of a single: arrays are aligned to no more."""
_FUSED: Final = ("contract",)


def _tile_sums(_context: Any, values: Any, days: Any, found: Any, tile: Any, sums: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def data(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k]).data

        def cells(pointer: Any) -> Any:
            return builder.bitcast(pointer, _SUMS.as_pointer())

        total = cgutils.alloca_once(builder, _SUMS)  # type: ignore[no-untyped-call]
        builder.store(ir.Constant(_SUMS, [0.0] * TILE), total)
        with cgutils.for_range(builder, args[2]) as loop:
            day = builder.load(builder.gep(data(1), [loop.index]))
            value = builder.load(builder.gep(data(0), [day]))
            first = builder.insert_element(
                ir.Constant(_SUMS, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
            )
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), TILE), [0] * TILE)
            spread = builder.shuffle_vector(first, first, everywhere)
            at = builder.mul(day, ir.Constant(day.type, TILE))
            row = builder.load(cells(builder.gep(data(3), [at])), align=_SINGLE)
            product = builder.fmul(spread, row, _FUSED)
            builder.store(builder.fadd(builder.load(total), product, _FUSED), total)
        builder.store(builder.load(total), cells(data(4)), align=_SINGLE)
        return context.get_dummy_value()

    return types.void(values, days, found, tile, sums), generate


tile_sums = cast(
    "Callable[[Singles, NDArray[np.int64], int, Singles, Singles], None]", intrinsic(_tile_sums)
)
"""sums[k] = sum of values[day] * tile[day, k] over the first `found` of `days`, in their order."""
