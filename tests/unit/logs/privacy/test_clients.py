"""Clients of a block: the fast way and the plain one give the same pseudonym."""

from __future__ import annotations

import hmac

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.privacy.clients import Clients
from temporal_assets.logs.privacy.pseudonyms import KeyRing, Spelling
from temporal_assets.logs.read.encode import from_values, take
from temporal_assets.logs.read.memo import Memo
from temporal_assets.logs.read.records import Column, Records
from temporal_assets.settings import Privacy

DAYS = np.array([20_000, 20_001, 20_008])

ipv4 = st.tuples(*[st.integers(0, 299)] * 4).map(lambda p: ".".join(map(str, p)).encode())
addresses = st.one_of(
    ipv4,
    st.sampled_from(
        [
            None,
            b"",
            b"-",
            b"unknown",
            b"1.2.3",
            b"1.2.3.4.5",
            b"01.2.3.4",
            b"1.2.3.4:80",
            b"::ffff:1.2.3.4",
            b"2001:DB8::1",
            b"[2001:db8::1]:443",
            b"host.example",
            b"1.2.3.4 ",
        ]
    ),
    st.binary(max_size=60),
)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> KeyRing:
    return KeyRing(tmp_path_factory.mktemp("state") / "secrets", rotation_days=7)


def _column(values: list[bytes | None]) -> Column:
    known = np.array([i if value is not None else -1 for i, value in enumerate(values)], np.int64)
    return take(from_values([value or b"" for value in values]), known)


def _records(address: Column, agent: Column) -> Records:
    n = len(address)
    zeros = np.zeros(n, np.int64)
    return Records(
        line=zeros,
        text=address,
        reason=zeros.astype(np.uint8),
        time=zeros,
        status=zeros.astype(np.int16),
        method=None,
        target=address,
        host=None,
        scheme=None,
        referrer=None,
        agent=agent,
        address=address,
        escaped=False,
    )


@given(
    st.lists(st.tuples(addresses, st.sampled_from([b"a", b"b"]), st.integers(0, 2)), max_size=30),
    st.sampled_from(["address", "address+agent"]),
    st.sampled_from([0, 8]),
)
def test_every_row_has_the_pseudonym_of_its_client_and_day(
    keys: KeyRing, rows: list[tuple[bytes | None, bytes, int]], by: str, masked: int
) -> None:
    privacy = Privacy(client=by, mask_ipv4_bits=masked)  # type: ignore[arg-type]
    records = _records(_column([row[0] for row in rows]), _column([row[1] for row in rows]))
    days = DAYS[np.array([row[2] for row in rows], np.int64)].astype(np.int32)
    every = np.arange(len(rows), dtype=np.int64)
    actual = Clients(keys, privacy).of_rows(records, every, days)
    spelling = Spelling(privacy)
    expected = []
    for i, (address, agent, _) in enumerate(rows):
        message = spelling.masked(address) + (b"\0" + agent if by == "address+agent" else b"")
        (period,) = keys.period(days[i : i + 1]).tolist()
        head = hmac.digest(keys.key(period), message, "sha256")[:8]
        expected.append(int.from_bytes(head, "big", signed=True))
    assert actual.tolist() == expected


def test_keys_change_with_the_period_and_only_then(keys: KeyRing) -> None:
    address = _column([b"192.0.2.1"] * 3)
    clients = Clients(keys, Privacy())
    actual = clients.of_rows(
        _records(address, address), np.arange(3), DAYS.astype(np.int32)
    ).tolist()
    assert actual[0] == actual[1] != actual[2]


def test_a_memory_computes_once_and_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("temporal_assets.logs.read.memo._ENTRIES", 2)
    seen: list[int] = []

    def square(n: int) -> int:
        seen.append(n)
        return n * n

    memo = Memo(square)
    assert [memo(n) for n in (2, 2, 3, 2, 4, 2)] == [4, 4, 9, 4, 16, 4]
    assert seen == [2, 3, 4, 2]
    assert len(memo._known) <= 2


def test_a_memory_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes into logs must not fill it with URLs of 60 KB."""
    monkeypatch.setattr("temporal_assets.logs.read.memo._BYTES", 6_000)
    memo = Memo(bytes.upper)
    assert memo(b"a" * 1025) == b"A" * 1025
    assert not memo._known
    for n in range(20):
        memo(b"%01000d" % n)
    assert 0 < len(memo._known) <= 3


def test_a_long_part_of_a_key_is_not_remembered() -> None:
    memo = Memo(hash)
    memo((1, b"192.0.2.1", b"a" * 1025))
    assert not memo._known
    memo((1, b"192.0.2.1", None))
    assert len(memo._known) == 1
