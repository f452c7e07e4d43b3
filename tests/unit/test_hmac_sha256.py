"""The compiled HMAC against the standard library and RFC 4231."""

from __future__ import annotations

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.privacy.hmac_sha256 import LONGEST, hmac_heads
from temporal_assets.logs.read.encode import from_values


def _expected(key: bytes, message: bytes) -> int:
    return int.from_bytes(hmac.digest(key, message, "sha256")[:8], "big", signed=True)


@pytest.mark.parametrize(
    ("key", "message", "head"),
    [  # RFC 4231, test cases 1, 2 and 3
        (b"\x0b" * 20, b"Hi There", "b0344c61d8db3853"),
        (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e"),
        (b"\xaa" * 20, b"\xdd" * 50, "773ea91e36800e46"),
    ],
)
def test_published_values(key: bytes, message: bytes, head: str) -> None:
    made = int(hmac_heads(key, from_values([message]))[0])
    assert made.to_bytes(8, "big", signed=True).hex() == head


@given(st.binary(min_size=0, max_size=100), st.lists(st.binary(max_size=LONGEST), max_size=20))
def test_agrees_with_the_standard_library(key: bytes, messages: list[bytes]) -> None:
    made = hmac_heads(key, from_values(messages)).tolist()
    assert made == [_expected(key, message) for message in messages]
