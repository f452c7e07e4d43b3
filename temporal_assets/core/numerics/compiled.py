"""Compilation of numerical loops, and elementary functions that compile well.

Here: the decorators of core's hot loops, what keeps the compiler from compiling them twice, and the
exponential, logarithm and normal tail they spend their time in. Not here: the loops (`descent`,
`starts`).

A function is decorated by what it does:

| decorator | allocates arrays | order of sums may vary | inlined into its callers |
|---|---|---|---|
| `loop` | yes | no | no |
| `leaf` | no | no | no |
| `inlined` | no | no | yes |
| `exact` | no | no, but a product and a sum may be one instruction | yes |
| `kernel` | no | yes | no |
| `part` | no | yes | yes |
| `numbers` | no | yes, and no value is NaN | yes |
| `making` | yes | yes | no |
| `making_part` | yes | yes | yes |

The compiler turns a loop into vector instructions only if it can see through every call in it,
and it cannot see into the C library's functions. `exp`, `log` and `mills` are plain arithmetic: exp
and log are within 2e-14 of the library's, and several times as fast.

The cache (`KeptLoops`) uses private methods of numba, which has no public ones for a second folder.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
Values = TypeVar("Values", bound=np.generic)

_FREE: Final = {"reassoc", "contract", "nsz", "arcp"}
"""Fast-math flags: the compiler may reorder sums, but assumes nothing about infinities or NaN."""

_WITHOUT_LOCK: Final[dict[str, Any]] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # for callers in C, of which there are none
}

_COUNTED: Final[dict[str, Any]] = {"_nrt": True}
_UNCOUNTED: Final[dict[str, Any]] = {"_nrt": False}
"""Option that turns reference counting of arrays off; numba has no public name for it."""

_INLINED: Final[dict[str, Any]] = {"forceinline": True, "no_cpython_wrapper": True}
"""Options of functions that only compiled code calls."""
_LEAF: Final[dict[str, Any]] = {
    "nogil": True,
    "no_cfunc_wrapper": True,
    **_UNCOUNTED,
}


class _SeldomCollected(event.Listener):
    """Listener that makes garbage collection rarer while the compiler runs.

    The compiler makes objects by the million and keeps most: collecting took a tenth of its time.
    """

    _AT_ONCE: Final = 50_000
    """Objects between two collections; 300 MB less memory than without any collection."""

    def __init__(self) -> None:
        """Start with no compilation running."""
        self._depth = 0
        self._usual = gc.get_threshold()

    def on_start(self, event: event.Event) -> None:
        """Note that one more function is compiled; one thread compiles at a time."""
        del event  # numba gives it
        if not self._depth:
            self._usual = gc.get_threshold()
            gc.set_threshold(self._AT_ONCE, *self._usual[1:])
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """Note that a function is compiled."""
        del event
        self._depth -= 1
        if not self._depth:
            gc.set_threshold(*self._usual)


event.register("numba:compile", _SeldomCollected())


class KeptLoops(FunctionCache):
    """Cache of a loop's compiled code on disk, in one or two folders.

    An installation compiles ahead (`machine.compile_ahead`) into a folder beside the code, where
    the user who runs it may not be allowed to write. What is missing there, or was compiled for
    another processor or by another numba, is compiled at the first call and kept in numba's own
    folder: the same one, or that of `NUMBA_CACHE_DIR` or of the user.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Set the paths of both folders without reading them."""
        super().__init__(function)  # type: ignore[no-untyped-call]
        beside = InTreeCacheLocator(function, inspect.getfile(function))
        self._shipped = IndexDataCacheFile(
            beside.get_cache_path(), self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def holds(self, target: Any, arguments: tuple[Any, ...]) -> bool:
        """Return True if the loop is compiled for arguments of these types and this processor."""
        key = self._index_key(arguments, target.codegen())
        return key in self._shipped._load_index() or key in self._cache_file._load_index()

    def argument_types(self) -> list[tuple[Any, ...]]:
        """Return the types of arguments that the loop is compiled for, on any processor."""
        return [key[0] for key in self._cache_file._load_index()]

    def _load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled code for some types, or None; numba calls this before it compiles."""
        if self._shipped._index_path != self._cache_file._index_path:
            data = self._shipped.load(self._index_key(signature, context.codegen()))
            if data is not None:
                return self._impl.rebuild(context, data)
        return super()._load_overload(signature, context)  # type: ignore[no-untyped-call]


def _compiled(function: Callable[P, R], **options: Any) -> Any:
    """Return numba's dispatcher of a function, with our cache."""
    dispatcher = njit(**options)(function)
    dispatcher._cache = KeptLoops(dispatcher.py_func)
    return dispatcher


class _InlinedFunction(CPUDispatcher):
    """A function for compiled callers alone, without the wrapper that lets Python call it.

    A wrapper would contain the body of the function once more, with the conversion of every
    argument. Tests call the function from Python all the same: `__call__` compiles a loop around it
    in every process anew.
    """

    def __call__(self, *arguments: Any) -> Any:
        return self._loop(*arguments)

    @cached_property
    def _loop(self) -> Callable[..., Any]:
        return cast("Callable[..., Any]", njit(lambda *values: self(*values)))


def _inlined(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Return a function compiled with numba's options, for compiled callers that inline it."""
    compiled = _compiled(function, **options, **_INLINED)
    compiled.__class__ = _InlinedFunction
    return cast("Callable[P, R]", compiled)


def exact(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate arithmetic whose order of operations matters, inlined into its callers.

    `fastmath` is explicit because a function without it inherits its caller's flags: here it allows
    a product and a sum in one instruction, and no other order.
    """
    return _inlined(function, **_WITHOUT_LOCK, **_UNCOUNTED, fastmath={"contract"})


def loop(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a loop of the usual kind: compiled without the interpreter lock, cached on disk.

    Threads run it in parallel, and only the first run on a machine waits for the compiler.
    """
    return cast("Callable[P, R]", _compiled(function, nogil=True))


def leaf(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a loop that allocates no array, and calls none that does.

    A compiled function counts a reference to each array that it is handed, atomically, and even
    where it has become part of its caller. A leaf need not count, because its caller holds the
    arrays. Counting took three fifths of the time for cutting URLs and numbering their fields, and
    a third of the time for fitting curves.
    """
    return cast("Callable[P, R]", _compiled(function, **_LEAF))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a `leaf` that is inlined into its callers.

    A call may cost more than the function itself does for one line of a log: numba passes an array
    as seven numbers.
    """
    return _inlined(function, **_LEAF)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a `leaf` whose sums may be reordered by the compiler (fast math)."""
    return cast(
        "Callable[P, R]", _compiled(function, **_WITHOUT_LOCK, **_UNCOUNTED, fastmath=_FREE)
    )


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a `kernel` that is inlined, for results whose last digits must not vary.

    Two loops that call one function may hold copies that take their sums in different orders, and
    the linker takes the first copy in the process. A process that compiles would thus compute other
    last digits than one that loads compiled code; inlined code is always that of its own loop.
    """
    return _inlined(function, **_WITHOUT_LOCK, **_UNCOUNTED, fastmath=_FREE)


def numbers(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a `part` that takes a minimum or maximum of values, none of which is NaN.

    Without this promise the compiler compares the values one by one, in order.
    """
    return _inlined(function, **_WITHOUT_LOCK, **_UNCOUNTED, fastmath=_FREE | {"nnan"})


def making(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a `kernel` that allocates arrays, itself or by a call.

    Reference counting is switched on explicitly: a function without the option inherits it from its
    caller.
    """
    return cast("Callable[P, R]", _compiled(function, **_WITHOUT_LOCK, **_COUNTED, fastmath=_FREE))


def making_part(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a `part` that allocates arrays."""
    return _inlined(function, **_WITHOUT_LOCK, **_COUNTED, fastmath=_FREE)


def constant(value: int) -> int:
    """Return a number that the compiler does not treat as a literal.

    A function called with the literal 10 would be compiled once more for 10.
    """
    return cast("int", np.int64(value))


def readonly(values: NDArray[Values]) -> NDArray[Values]:
    """Return the same values as a read-only array, so that loops are compiled for one type only."""
    view = np.ascontiguousarray(values).view()
    view.flags.writeable = False
    return view


def _to_bits(_context: Any, x: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    del x  # numba asks for it by position
    return types.int64(types.float64), generate


def _from_bits(_context: Any, x: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    del x
    return types.float64(types.int64), generate


def _low_zeros(_context: Any, x: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    del x
    return types.uint64(types.uint64), generate


bits_of = cast("Callable[[float], int]", intrinsic(_to_bits))
"""The 64 bits of a float as an integer."""
float_of = cast("Callable[[int], float]", intrinsic(_from_bits))
"""The float whose 64 bits are those of an integer."""
low_zeros = cast("Callable[[np.uint64], np.uint64]", intrinsic(_low_zeros))
"""Number of zero bits below the lowest set bit."""
_LOG2E: Final = 1.4426950408889634
_LN2_HIGH: Final = 0.693147180369123816490
_LN2_LOW: Final = 1.90821492927058770002e-10
_ROUND: Final = 6755399441055744.0
"""1.5 * 2**52: a float plus this has the nearest integer in its low bits."""
_SMALLEST: Final = -700.0
"""Smallest argument of exp: the exponential of less is not a normal number, and counts as zero."""
_INTEGER: Final = 4503599627370496.0
"""2**52: adding an integer to its bits gives the float 2**52 plus that integer."""
_INTEGER_BITS: Final = 0x4330000000000000
_MANTISSA: Final = 0x000FFFFFFFFFFFFF
_ONE: Final = 0x3FF0000000000000
_SHIFT: Final = 52
_SQRT2: Final = 1.4142135623730951


@exact
def exp(x: float) -> float:
    """Return the exponential of x <= 700; below -700, that of -700."""
    x = max(x, _SMALLEST)
    shifted = x * _LOG2E + _ROUND
    k = shifted - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    # The low bits of `shifted` hold k; shifted up they are the exponent of 2**k.
    power = float_of((bits_of(shifted) << _SHIFT) + _ONE)
    return p * power


@exact
def log(x: float) -> float:
    """Return the natural logarithm of a normal positive number."""
    raw = bits_of(x)
    mantissa = float_of((raw & _MANTISSA) | _ONE)
    exponent = float_of((raw >> _SHIFT) | _INTEGER_BITS) - (_INTEGER + 1023.0)
    high = mantissa > _SQRT2
    mantissa = mantissa * 0.5 if high else mantissa
    exponent = exponent + 1.0 if high else exponent
    t = (mantissa - 1.0) / (mantissa + 1.0)
    t2 = t * t
    p = 2.0 / 17.0
    p = p * t2 + 2.0 / 15.0
    p = p * t2 + 2.0 / 13.0
    p = p * t2 + 2.0 / 11.0
    p = p * t2 + 2.0 / 9.0
    p = p * t2 + 2.0 / 7.0
    p = p * t2 + 2.0 / 5.0
    p = p * t2 + 2.0 / 3.0
    p = p * t2 + 2.0
    return exponent * _LN2_HIGH + (p * t + exponent * _LN2_LOW)


@exact
def mills(z: float) -> float:
    """Return the upper tail of the standard normal at z >= 0 divided by its density at z.

    The relative error is below 3e-11. Divided by t = 1 / (1 + z / 5), the ratio is smooth in t on
    the whole half line: a polynomial in t, fitted at the Chebyshev nodes.
    """
    t = 1.0 / (1.0 + 0.2 * z)
    p = -0.012623453173716088
    p = p * t + 0.07613930363258867
    p = p * t - 0.17709359995305946
    p = p * t + 0.2018702068882883
    p = p * t - 0.15022839488455736
    p = p * t + 0.09318044434818802
    p = p * t + 0.013626896333296725
    p = p * t + 0.06882676892617416
    p = p * t + 0.09390674326403423
    p = p * t + 0.12473255320542453
    p = p * t + 0.15297842257199595
    p = p * t + 0.17599816597963752
    p = p * t + 0.19200008148421144
    p = p * t + 0.19999999867968532
    p = p * t + 0.20000000000338813
    return t * p
