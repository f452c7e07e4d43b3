"""Finding a byte, 32 at a time.

Here: the one loop that everything else about a line waits for. Not here: what is looked for
(`tokenize`).

The compiler turns no search that may stop early into vector instructions, so one step is written
out as such: load 32 bytes, compare them all, count the zeros before the first hit. It works on
every processor LLVM knows, and is several times faster than the plain loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from temporal_assets.core.numerics.compiled import inlined
from temporal_assets.logs.read.records import Bytes

WIDTH: Final = 32
"""Bytes of one step: a register of AVX2, two of NEON."""


def _first_of(
    _typing: Any, data: Any, _at: Any, _byte: Any, _other: Any
) -> tuple[Any, Callable[..., Any]]:
    """Type and code of `first_of`."""
    signature = types.int64(data, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, typed: Any, values: Any) -> Any:
        byte, count = ir.IntType(8), ir.IntType(WIDTH)
        vector = ir.VectorType(byte, WIDTH)
        array = context.make_array(typed.args[0])(context, builder, values[0])
        place = builder.bitcast(builder.gep(array.data, [values[1]]), vector.as_pointer())
        loaded = builder.load(place, align=1)
        hits = ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), [0] * WIDTH)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        for wanted in values[2:]:
            nothing = ir.Constant(vector, ir.Undefined)
            first_lane = builder.insert_element(
                nothing, builder.trunc(wanted, byte), ir.Constant(ir.IntType(32), 0)
            )
            alike = builder.shuffle_vector(first_lane, nothing, everywhere)
            hits = builder.or_(hits, builder.icmp_unsigned("==", loaded, alike))
        first = builder.cttz(builder.bitcast(hits, count), ir.Constant(ir.IntType(1), 0))
        return builder.zext(first, ir.IntType(64))

    return signature, generate


first_of: Final = cast("Callable[[Bytes, int, int, int], int]", intrinsic(_first_of))
"""`first_of(data, at, byte, other)`: offset of the first `byte` or `other` among the 32 bytes from
`at`, 32 if none is there. All 32 must lie inside `data`."""


@inlined
def find_either(data: Bytes, at: int, stop: int, byte: int, other: int) -> int:
    """Position of the first `byte` or `other` in `at:stop`, else `stop`."""
    size = data.size
    while at < stop and at + WIDTH <= size:
        offset = first_of(data, at, byte, other)
        at += offset
        if offset < WIDTH:
            return min(at, stop)
    while at < stop and data[at] != byte and data[at] != other:
        at += 1
    return min(at, stop)


@inlined
def find_byte(data: Bytes, at: int, stop: int, byte: int) -> int:
    """Position of the first `byte` in `at:stop`, else `stop`."""
    return find_either(data, at, stop, byte, byte)
