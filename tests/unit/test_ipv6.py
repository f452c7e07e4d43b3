"""IPv6 addresses that are spelled in a compiled loop, as Python spells them."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.privacy.ipv6 import group_masks, in_full
from temporal_assets.logs.privacy.pseudonyms import KeyRing, Pseudonymiser, packed_address
from temporal_assets.logs.read.encode import from_values, to_list
from temporal_assets.settings import Privacy

NUMBERS = st.one_of(
    st.integers(0, 2**128 - 1),
    st.lists(st.sampled_from([0, 1, 0xDB8, 0xFFFF]), min_size=8, max_size=8).map(
        lambda groups: int("".join(f"{group:04x}" for group in groups), 16)
    ),
)
SPELLINGS = NUMBERS.map(ipaddress.IPv6Address).flatmap(
    lambda address: st.sampled_from(
        [address.compressed, address.exploded, address.compressed.upper()]
    )
)
TEXTS = st.one_of(SPELLINGS, st.text("0123456789abfF:.%g", max_size=42), st.text(":1", max_size=20))


@given(st.lists(TEXTS, max_size=20), st.sampled_from([0, 7, 64, 96]))
def test_what_is_spelled_in_full_is_spelled_as_by_python(texts: list[str], masked: int) -> None:
    values = [text.encode() for text in texts]
    plain, found = in_full(from_values(values), group_masks(masked))
    pseudonymiser = Pseudonymiser(KeyRing.__new__(KeyRing), Privacy(mask_ipv6_bits=masked))
    chosen = [value for value, is_plain in zip(values, plain.tolist(), strict=True) if is_plain]
    assert to_list(found) == [pseudonymiser.masked(value) for value in chosen]
    assert all(len(packed_address(value) or b"") == 16 for value in chosen)


@given(SPELLINGS.filter(lambda text: not ipaddress.IPv6Address(text).ipv4_mapped))
def test_addresses_as_servers_write_them_are_plain(text: str) -> None:
    plain, _ = in_full(from_values([text.encode()]), group_masks(0))
    assert plain.all()


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        ":::",
        "1",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8:",
        ":1:2:3:4:5:6:7:8",
        "1:2:3:4::5:6:7:8",
        "1::2::3",
        "12345::",
        "1:",
        "::ffff:102:304",
        "::ffff:1.2.3.4",
        "fe80::1%eth0",
        "[::1]:80",
        "10.0.0.1",
        "g::1",
    ],
)
def test_others_are_left_to_python(text: str) -> None:
    plain, found = in_full(from_values([text.encode()]), group_masks(0))
    assert not plain.any()
    assert len(found) == 0
