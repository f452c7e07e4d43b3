"""What compiling costs, and parts that only compiled callers call."""

import gc

from numba import njit

from temporal_assets.core.numerics.compiled import inlined


@inlined
def _doubled(value: int) -> int:
    return value + value


def test_garbage_is_seldom_searched_while_compiling() -> None:
    before = gc.get_threshold()
    seen = []

    loop = njit(lambda value: _doubled(value) + 1)
    compiler = loop._compiler
    compile_one = compiler.compile
    compiler.compile = lambda *given: seen.append(gc.get_threshold()) or compile_one(*given)
    assert loop(3) == 7
    assert seen[0][0] > before[0]
    assert gc.get_threshold() == before


def test_a_part_has_nothing_for_python_to_call_and_answers_it_all_the_same() -> None:
    assert _doubled(21) == 42
    (compiled,) = _doubled.overloads.values()  # type: ignore[attr-defined]
    assert "cpython" not in compiled.library.get_llvm_str()
