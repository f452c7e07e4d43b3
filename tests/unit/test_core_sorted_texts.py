"""Places of strings among others, against a dictionary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.core.sorted_texts import Seeker
from temporal_assets.core.texts import texts

a_text = st.text("ab/\0ü", max_size=12) | st.sampled_from(["aaaaaaaab", "aaaaaaaa", "aaaaaaaaba"])
some_texts = st.sets(a_text, max_size=20).map(lambda found: sorted(found, key=str.encode))


def blocks(strings: list[str], size: int) -> list[list[str]]:
    return [strings[start : start + size] for start in range(0, len(strings), size)]


@given(shown=some_texts, wanted=some_texts, sizes=st.tuples(st.integers(1, 5), st.integers(1, 5)))
def test_every_string_is_found_where_it_stands(
    shown: list[str], wanted: list[str], sizes: tuple[int, int]
) -> None:
    """However both are cut into blocks, empty ones among them."""
    cut = [texts(block) for block in [*blocks(wanted, sizes[0]), []]]
    seeker = Seeker([texts([]), *cut], len(wanted))
    first = 0
    for block in [[], *blocks(shown, sizes[1])]:
        seeker.look(texts(block), first)
        first += len(block)
    place = {text: at for at, text in enumerate(shown)}
    assert seeker.places.tolist() == [place.get(text, -1) for text in wanted]
