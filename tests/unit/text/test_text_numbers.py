"""Numbers of texts."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from temporal_assets.core.text.text_numbers import text_numbers
from temporal_assets.core.text.texts import texts


@given(st.sets(st.text(max_size=40), max_size=50))
@example({"", "\x01"})
def test_numbers_tell_texts_apart_and_are_above_zero(found: set[str]) -> None:
    numbers = text_numbers(texts(list(found)))
    assert len(set(numbers.tolist())) == len(found)
    assert ((numbers > 0) & (numbers < 2**62)).all()
    assert text_numbers(texts(list(found))).tolist() == numbers.tolist()
