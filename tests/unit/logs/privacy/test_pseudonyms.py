"""Keys and pseudonyms of clients.

The expected hashes were computed with `openssl dgst -sha256 -mac HMAC -macopt hexkey:0001…1f`.
"""

from __future__ import annotations

import datetime as dt
import errno
import hmac
import ipaddress
import multiprocessing
import os
import stat
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.logs.privacy import key_periods, pseudonyms
from temporal_assets.logs.privacy.key_periods import KeyFileError
from temporal_assets.logs.privacy.pseudonyms import (
    KeyRing,
    Spelling,
    first_forwarded,
    hmac_heads,
    packed_address,
)
from temporal_assets.settings import Privacy

KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
KEY_FILE = f"{KEY} 630dcd29\n"  # the last digits begin the SHA-256 of the key's bytes


@pytest.fixture
def known(tmp_path: Path) -> KeyRing:
    """A ring whose only key is 00 01 … 1f."""
    return _ring_with(tmp_path / "secrets", KEY_FILE)


def _ring_with(folder: Path, text: str) -> KeyRing:
    folder.mkdir(mode=0o700)
    file = folder / "clients.key"
    file.write_text(text)
    file.chmod(0o600)
    return KeyRing(folder, 0)


def _signed(first_eight_bytes: int) -> int:
    return first_eight_bytes - 2**64 if first_eight_bytes >= 2**63 else first_eight_bytes


def _pseudonym(keys: KeyRing, client: bytes | None, privacy: Privacy | None = None) -> int:
    """The pseudonym of what is logged of a client."""
    message = Spelling(privacy or Privacy()).masked(client)
    return int(hmac_heads(keys.key(0), [message])[0])


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (b"192.0.2.1", 0x631880DC2584B7D2),
        (b"2001:db8::1", 0x28C8E17C7E8D7A98),
        (b"www.client.example", 0xD76E51972FFA6700),
        (None, 0x75F4B6ECCD1C0B2E),
        (b"", 0x75F4B6ECCD1C0B2E),
        (b"-", 0x75F4B6ECCD1C0B2E),
        (b"unknown", 0x75F4B6ECCD1C0B2E),
    ],
)
def test_a_pseudonym_begins_the_hmac_of_the_address(
    known: KeyRing, client: bytes | None, expected: int
) -> None:
    assert _pseudonym(known, client) == _signed(expected)


def test_the_agent_follows_a_nul(known: KeyRing) -> None:
    pseudonym = _pseudonym(known, b"192.0.2.1\0Mozilla/5.0 (X11)")
    assert pseudonym == _signed(0x8E9D6987A6C5F2CB)


def test_masking_removes_bits_before_hashing(known: KeyRing) -> None:
    privacy = Privacy(mask_ipv4_bits=8)
    masking = Spelling(privacy)
    for address in (b"192.0.2.0", b"192.0.2.1", b"192.0.2.255", b"::ffff:192.0.2.77"):
        assert _pseudonym(known, address, privacy) == _signed(0x04EA1EE885E2C125)
    assert masking.masked(b"192.0.3.1") == b"192.0.3.0"
    assert masking.masked(b"2001:db8:0:1::1") == b"2001:0db8:0000:0001:0000:0000:0000:0000"
    privacy = Privacy(mask_ipv4_bits=16)
    masking = Spelling(privacy)
    for address in (b"2001:db8::1", b"2001:db8:0:ffff::1"):
        assert masking.masked(address) == b"2001:0db8:0000:0000:0000:0000:0000:0000"
        assert _pseudonym(known, address, privacy) == _signed(0x46F4FDB8D16DCBF9)
    assert masking.masked(b"2001:db8:1::1") == b"2001:0db8:0001:0000:0000:0000:0000:0000"
    assert masking.masked(b"www.client.example") == b"www.client.example"


@pytest.mark.parametrize(
    ("logged", "canonical"),
    [
        (b"192.0.2.1", b"192.0.2.1"),
        (b"192.0.2.1:51234", b"192.0.2.1"),
        (b"192.000.002.001", b"192.0.2.1"),
        (b" 192.0.2.1 ", b"192.0.2.1"),
        (b"::ffff:192.0.2.1", b"192.0.2.1"),
        (b"::FFFF:C000:0201", b"192.0.2.1"),
        (b"[::ffff:192.0.2.1]:443", b"192.0.2.1"),
        (b"2001:0DB8:0:0:0:0:0:1", b"2001:0db8:0000:0000:0000:0000:0000:0001"),
        (b"[2001:db8::1]", b"2001:0db8:0000:0000:0000:0000:0000:0001"),
        (b"[2001:db8::1]:8080", b"2001:0db8:0000:0000:0000:0000:0000:0001"),
        (b"fe80::1%eth0", b"fe80:0000:0000:0000:0000:0000:0000:0001"),
        (b"[fe80::1%25eth0]:80", b"fe80:0000:0000:0000:0000:0000:0000:0001"),
        # No addresses: used as they are.
        (b"192.0.2.256", b"192.0.2.256"),
        (b"192.0.2.x", b"192.0.2.x"),
        (b"192.0.2", b"192.0.2"),
        (b"1:2:3", b"1:2:3"),
        (b"192.0.2.1\0", b"192.0.2.1\0"),
        (b"\xff\xfe", b"\xff\xfe"),
        (b"user-17", b"user-17"),
        (b"1" * 5000, b"1" * 5000),
    ],
)
def test_one_spelling_per_address(known: KeyRing, logged: bytes, canonical: bytes) -> None:
    assert Spelling(Privacy()).masked(logged) == canonical


@given(address=st.ip_addresses())
def test_addresses_are_read_as_the_standard_library_reads_them(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    expected = (mapped or address).packed
    for text in (str(address), address.exploded, str(address).upper()):
        assert packed_address(text.encode()) == expected


@given(st.binary(min_size=1, max_size=32), st.lists(st.binary(max_size=80), max_size=5))
def test_pseudonyms_begin_the_hmac_of_the_library(key: bytes, messages: list[bytes]) -> None:
    expected = [hmac.digest(key, message, "sha256")[:8] for message in messages]
    actual = hmac_heads(key, messages)
    assert actual.dtype == np.int64
    assert actual.astype(">i8").tobytes() == b"".join(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"192.0.2.1, 198.51.100.7", b"192.0.2.1"),
        (b"192.0.2.1,198.51.100.7", b"192.0.2.1"),
        (b"unknown, 192.0.2.1", b"192.0.2.1"),
        (b'"192.0.2.1"', b"192.0.2.1"),
        (b"\\x22192.0.2.1\\x22, 198.51.100.7", b"192.0.2.1"),
        (b"192.0.2.1,+198.51.100.7", b"192.0.2.1"),
        (b"-,%20192.0.2.1", b"192.0.2.1"),
        (b"2001:db8::1, 192.0.2.1", b"2001:db8::1"),
        (b'for="[2001:db8::17]:4711";proto=http, for=192.0.2.1', b"[2001:db8::17]:4711"),
        (b"_hidden, 192.0.2.1:80", b"192.0.2.1:80"),
        (b"10.0.0.1, 192.0.2.1", b"10.0.0.1"),
        (b"' OR 1=1 --", None),
        (b"unknown", None),
        (b"-", None),
        (b"", None),
        (None, None),
    ],
)
def test_the_first_forwarded_address(value: bytes | None, expected: bytes | None) -> None:
    assert first_forwarded(value) == expected


@given(value=st.binary(max_size=200))
def test_forwarded_values_of_any_bytes(value: bytes) -> None:
    actual = first_forwarded(value)
    assert actual is None or packed_address(actual) is not None


def test_one_key_for_all_days_without_rotation(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path, 0)
    assert ring.period(np.array([0, 1, 20_000], np.int32)).tolist() == [0, 0, 0]
    assert ring.file(0).name == "clients.key"


def test_keys_change_every_so_many_days(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path, 7)
    days = np.array([-3, 0, 6, 7, 13, 14, 19_723], np.int32)
    periods = ring.period(days)
    assert periods.dtype == np.int64
    assert periods.tolist() == [0, 0, 0, 1, 1, 2, 2817]  # 19,723 is 2024-01-01; 7 * 2817 = 19,719
    assert ring.file(1).name == "clients-1970-01-08-7d.key"
    assert ring.file(2817).name == "clients-2023-12-28-7d.key"


def test_clients_cannot_be_followed_over_a_rotation(tmp_path: Path) -> None:
    keys = KeyRing(tmp_path / "secrets", 1)
    of_days = [hmac_heads(keys.key(day), [b"192.0.2.1"]).tolist() for day in (5, 5, 6)]
    assert of_days[0] == of_days[1] != of_days[2]


def test_a_destroyed_key_does_not_come_back(tmp_path: Path) -> None:
    before = KeyRing(tmp_path / "secrets", 30)
    old, other = before.key(100), before.key(101)
    before.file(100).unlink()
    after = KeyRing(tmp_path / "secrets", 30)
    assert after.key(100) != old
    assert after.key(101) == other


def test_only_the_owner_can_read_a_key(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "secrets"
    before = os.umask(0)
    try:
        key = KeyRing(folder, 0).key(0)
    finally:
        os.umask(before)
    assert len(key) == 32
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.name for file in folder.iterdir()] == ["clients.key"]
    assert stat.S_IMODE((folder / "clients.key").stat().st_mode) == 0o600


def test_nothing_is_written_before_a_key_is_needed(tmp_path: Path) -> None:
    KeyRing(tmp_path / "secrets", 0).period(np.array([1], np.int32))
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_found_again(tmp_path: Path) -> None:
    first = KeyRing(tmp_path / "secrets", 0).key(0)
    assert KeyRing(tmp_path / "secrets", 0).key(0) == first
    assert KeyRing(tmp_path / "others", 0).key(0) != first


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o644, 0o700), (0o600, 0o750)])
def test_loose_permissions_are_refused(known: KeyRing, file_mode: int, folder_mode: int) -> None:
    known.file(0).chmod(file_mode)
    known.folder.chmod(folder_mode)
    with pytest.raises(KeyFileError, match=r"chmod [67]00 '.*secrets") as error:
        known.key(0)
    assert KEY not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        KEY,
        KEY_FILE[:40],
        KEY_FILE.replace("0001", "0002"),  # another key than the check digits are of
        KEY_FILE.replace("630dcd29", "630dcd28"),
        KEY_FILE * 2,
        "\ufeff" + KEY_FILE,
    ],
)
def test_a_damaged_key_is_refused(tmp_path: Path, text: str) -> None:
    ring = _ring_with(tmp_path / "secrets", text)
    with pytest.raises(KeyFileError, match=r"clients\.key: .* damaged") as error:
        ring.key(0)
    assert KEY[8:40] not in str(error.value)
    assert ring.file(0).read_text() == text  # and not replaced


def test_a_key_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(KeyFileError, match=r"clients\.key: cannot .*: Operation not permitted"):
        KeyRing(tmp_path / "secrets", 0).key(0)
    assert list((tmp_path / "secrets").iterdir()) == []


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("")
    with pytest.raises(KeyFileError, match="secrets"):
        KeyRing(tmp_path / "secrets", 0).key(0)


def _key_of_another_process(folder: Path, at_once: object) -> bytes:
    at_once.wait()  # type: ignore[attr-defined]
    return KeyRing(folder, 0).key(0)


def test_processes_that_come_at_once_agree(tmp_path: Path) -> None:
    """They are held at a barrier, so that each finds no key and makes one."""
    context = multiprocessing.get_context("spawn")
    # Not a Pool, which ends its processes by a signal that they may have inherited as ignored.
    with context.Manager() as manager, ProcessPoolExecutor(3, mp_context=context) as pool:
        barrier = manager.Barrier(3)
        for attempt in range(10):
            folder = tmp_path / str(attempt) / "secrets"
            keys = list(pool.map(_key_of_another_process, [folder] * 3, [barrier] * 3))
            assert len(set(keys)) == 1
            assert [file.name for file in folder.iterdir()] == ["clients.key"]


def test_threads_that_come_at_once_agree(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path / "secrets", 1)
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(ring.key, [period for period in range(20) for _ in range(8)]))
    assert len(set(keys)) == 20
    assert len(list(ring.folder.iterdir())) == 20


def test_a_key_that_was_replaced_is_refused(tmp_path: Path) -> None:
    """It would silently make every client a new one."""
    folder = tmp_path / "secrets"
    KeyRing(folder, 0).key(0)
    assert pseudonyms.troubles(folder) == []
    (folder / "clients.key").write_text(KEY_FILE)
    with pytest.raises(KeyFileError, match="another key of client pseudonyms"):
        KeyRing(folder, 0).key(0)
    (answer,) = pseudonyms.troubles(folder)
    assert KEY[:8] not in answer
    noted = tmp_path / key_periods.NOTES
    noted.write_text(noted.read_text().replace("clients.key", "no.key"))
    assert KeyRing(folder, 0).key(0).hex() == KEY  # by the owner's will


@pytest.mark.parametrize("text", ["", KEY, KEY_FILE[:-1], KEY_FILE.replace("0", "1", 1)])
def test_a_truncated_key_is_told(tmp_path: Path, text: str) -> None:
    _ring_with(tmp_path / "secrets", text)
    (answer,) = pseudonyms.troubles(tmp_path / "secrets")
    assert "damaged" in answer


def test_a_key_that_is_gone_is_told_while_its_period_lasts(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    ring = KeyRing(folder, 7)
    ring.key(0)
    assert key_periods.missing(folder, dt.date(1970, 1, 5)) == []
    ring.file(0).unlink()
    assert key_periods.missing(folder, dt.date(1970, 1, 5)) == [ring.file(0).name]
    assert key_periods.missing(folder, dt.date(1970, 1, 8)) == []  # it may be destroyed
    assert KeyRing(folder, 7).key(0)
    assert key_periods.missing(folder, dt.date(1970, 1, 5)) == []


def test_what_is_noted_of_a_key_betrays_nothing(tmp_path: Path) -> None:
    KeyRing(tmp_path / "secrets", 0).key(0)
    assert len(key_periods.checksums(tmp_path / "secrets")["clients.key"]) == 8
