"""Pseudonyms of clients: a keyed hash of the address instead of the address.

Here: the keys and their files, one spelling per address, masking, and the hash. What users must
know about it is in `docs/privacy.md`. Not here: which key a day has and what is noted of keys
(`key_periods`), which field of a line holds the address (`formats`) and who is asked for a
pseudonym (`cleaning`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import os
import re
import secrets
import socket
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from temporal_assets.logs.privacy.key_periods import (
    CHECK_DIGITS,
    NOTES,
    KeyFileError,
    KeyPeriods,
    check,
    checksums,
    damaged_notes,
    note,
)
from temporal_assets.logs.urls.escapes import decode_escapes
from temporal_assets.settings import Privacy

KEY_BYTES: Final = 32
"""HMAC-SHA256 gains nothing from a key longer than its digest."""

_HASH_BLOCK: Final = 64
"""Bytes that SHA-256 takes at once; a key is shorter."""

_HEAD_BYTES: Final = 8
_KEY_FILE: Final = re.compile(rb"([0-9a-f]{%d}) ([0-9a-f]{%d})\n" % (2 * KEY_BYTES, CHECK_DIGITS))
"""A key file: the key, and the beginning of its SHA-256, which betrays a damaged file. A key
with one wrong bit would silently make every client a new one."""

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""Rights of the group and of everybody."""


class KeyRing:
    """The keys of pseudonyms, one file per period; threads and processes may share them.

    Every key is drawn at random and derived from nothing: whoever deletes its file makes the
    pseudonyms of that period unlinkable to addresses for good, and leaves those of other
    periods alone. A master key would undo that.
    """

    def __init__(self, folder: Path, rotation_days: int) -> None:
        self.folder = folder
        today = dt.datetime.now(dt.UTC).date()
        self._periods = KeyPeriods.of_folder(folder, rotation_days, today)
        self.made: list[int] = []
        """Periods whose key was not there and was made by this key ring."""
        self._keys: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def period(self, days: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the key period of each day (`KeyPeriods.of`)."""
        return self._periods.of(days)

    def key(self, period: int) -> bytes:
        """Return the key of a period, made if there is none. Raises `KeyFileError`."""
        key = self._keys.get(period)
        if key is not None:
            return key
        with self._lock:
            if period not in self._keys:
                self._keys[period] = self._load(period)
            return self._keys[period]

    def file(self, period: int) -> Path:
        """Return the path of a period's key."""
        return self.folder / self._periods.file(period)

    def _load(self, period: int) -> bytes:
        """Return the key of a period from its file, which is made if it is missing."""
        file = self.file(period)
        try:
            self._prepare_folder()
            with contextlib.suppress(FileNotFoundError):
                return self._confirmed(file, _read_key(file))
            _create_key(file)
            self.made.append(period)
            note(self.folder, {file.name: check(key := _read_key(file))}, self._periods)
            return key
        except OSError as error:
            raise KeyFileError(
                f"{file}: cannot read or create the key of client pseudonyms: {error.strerror}"
            ) from error

    def _confirmed(self, file: Path, key: bytes) -> bytes:
        """Return a key after checking that lines were read under it, not under another."""
        if checksums(self.folder).get(file.name, check(key)) != check(key):
            raise KeyFileError(replaced(file))
        note(self.folder, {file.name: check(key)}, self._periods)
        return key

    def _prepare_folder(self) -> None:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _require_private(self.folder, "700")


def _create_key(file: Path) -> None:
    """Write a new key to `file`, unless another process has written one meanwhile.

    A link, unlike a rename, fails if the name is taken: of two processes that come at once one
    wins, and both read the winner's key, which is complete before it has its name.
    """
    key = secrets.token_bytes(KEY_BYTES)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(f"{key.hex()} {check(key)}\n".encode())
            stream.flush()
            # What was published under a key must not survive a power cut that the key does not.
            os.fsync(stream.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_key(file: Path) -> bytes:
    """Return the key in a file. Raises `KeyFileError` if it is damaged or others can read it."""
    _require_private(file, "600")
    match = _KEY_FILE.fullmatch(file.read_bytes())
    key = bytes.fromhex(match[1].decode()) if match else b""
    if match is None or check(key) != match[2].decode():
        raise KeyFileError(
            f"{file}: this key of client pseudonyms is damaged. Restore it from a backup; "
            "deleting it makes a new key, under which every client counts as a new one"
        )
    return key


def replaced(file: Path) -> str:
    """Return the message for a key that differs from the noted one."""
    return (
        f"{file}: this is another key of client pseudonyms than the one that lines were read"
        f" under: every client would count as a new one. Restore that from a backup, or remove"
        f" the line of {file.name} from {file.parent.parent / NOTES} to go on with this one"
    )


def troubles(folder: Path) -> list[str]:
    """Return the messages on what is wrong with the keys in a folder `secrets`."""
    messages = damaged_notes(folder)
    noted = checksums(folder)
    for file in sorted(folder.glob("clients*.key")):
        try:
            _require_private(file, "600")
            if noted.get(file.name, checksum := check(_read_key(file))) != checksum:
                messages.append(replaced(file))
        except KeyFileError as error:
            messages.append(str(error))
    return messages


def _require_private(path: Path, mode: str) -> None:
    mode_now = path.stat().st_mode
    if os.name == "posix" and mode_now & _OTHERS:
        raise KeyFileError(
            f"{path}: others can read or change it (mode {stat.S_IMODE(mode_now):03o}), but it "
            f"protects the addresses of visitors. Run: chmod {mode} '{path}'"
        )


def ipv6_bits_of(ipv4_bits: int) -> int:
    """Return the bits that an IPv6 address loses where an IPv4 address loses so many.

    A household has 64 bits or more of its own, so the first level takes these; GoAccess's three
    levels lie on one line.
    """
    return 48 + 2 * ipv4_bits if ipv4_bits else 0


class Spelling:
    """Normalisation of clients to one spelling, which is hashed; threads may share it."""

    def __init__(self, privacy: Privacy) -> None:
        ipv6_bits = ipv6_bits_of(privacy.mask_ipv4_bits)
        self._ipv4_mask = _mask(32, privacy.mask_ipv4_bits)
        self._ipv6_mask = _mask(128, ipv6_bits)
        self._masks_ipv4 = privacy.mask_ipv4_bits > 0
        self._masks_ipv6 = ipv6_bits > 0

    def masked(self, client: bytes | None) -> bytes:
        """Return the text that is hashed: the address in one spelling, without the masked bits.

        Values that are no addresses (host names, other identifiers) are returned unchanged.
        """
        if client is None or client in _UNKNOWN:
            return UNKNOWN_CLIENT
        packed = packed_address(client)
        if packed is None:
            return client
        if len(packed) == _IPV4_BYTES:
            if self._masks_ipv4:
                number = int.from_bytes(packed, "big") & self._ipv4_mask
                packed = number.to_bytes(_IPV4_BYTES, "big")
            return socket.inet_ntoa(packed).encode()
        if self._masks_ipv6:
            number = int.from_bytes(packed, "big") & self._ipv6_mask
            packed = number.to_bytes(_IPV6_BYTES, "big")
        # All eight groups in full: shortening costs more than the hash, and inet_ntop's spelling
        # differs between systems.
        return packed.hex(":", 2).encode()


def hmac_heads(key: bytes, messages: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the pseudonyms: the first 8 bytes of HMAC-SHA256, big-endian, as signed integers.

    A message is an address, or an address, NUL and an agent.

    The states after the padded key (RFC 2104) are copied for each message, which takes a third of
    the time of `hmac.digest`; the tests compare both.
    """
    padded = key.ljust(_HASH_BLOCK, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))
    heads = []
    for message in messages:
        inside, outside = inner.copy(), outer.copy()
        inside.update(message)
        outside.update(inside.digest())
        heads.append(outside.digest()[:_HEAD_BYTES])
    return np.frombuffer(b"".join(heads), ">i8").astype(np.int64)


def _mask(bits: int, removed: int) -> int:
    return (1 << bits) - (1 << removed)


# ------------------------------------------------------------------------------- addresses

UNKNOWN_CLIENT: Final = b"-"
"""Text for all clients whose address is not in the log; they count as one."""

_UNKNOWN: Final = (b"", b"-", b"unknown")
"""Values that servers log where the client is not known."""

_IPV4_BYTES: Final = 4
_IPV6_BYTES: Final = 16
_MAPPED: Final = bytes(10) + b"\xff\xff"
"""Beginning of an IPv4 address within IPv6 (RFC 4291, 2.5.5.2), as dual-stack sockets log it."""

MAX_ADDRESS: Final = 100
"""Characters beyond which nothing is an address: 45, brackets, a port, a long zone."""

_IPV4: Final = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})(?::[0-9]{1,5})?")
"""Expression for IPv4 with zeros before digits, which are not octal in any log."""

_IPV6: Final = re.compile(
    r"\[(?P<inside>[0-9A-Fa-f:.]+)(?:%[^\]]*)?\](?::[0-9]{1,5})?"
    r"|(?P<bare>[0-9A-Fa-f:.]+)(?:%.*)?"
)
"""Address in brackets with or without a port, or bare; a zone (`%eth0`) names an interface of the
server, not the client."""


def packed_address(value: bytes) -> bytes | None:
    """Return the 4 or 16 bytes of an address in any of its spellings; None if it is no address."""
    if len(value) > MAX_ADDRESS or not value.isascii():
        return None
    text = value.decode("ascii")
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    try:
        return socket.inet_pton(family, text).removeprefix(_MAPPED)
    except (OSError, ValueError):  # ValueError: a NUL inside
        return _unusual_address(text.strip())


def _unusual_address(text: str) -> bytes | None:
    """Return the bytes of an address in any valid notation, or None."""
    ipv4 = _IPV4.fullmatch(text)
    if ipv4:
        parts = [int(part) for part in ipv4.groups()]
        return bytes(parts) if max(parts) < 256 else None
    ipv6 = _IPV6.fullmatch(text)
    if ipv6 is None:
        return None
    try:
        packed = socket.inet_pton(socket.AF_INET6, ipv6["inside"] or ipv6["bare"])
    except OSError:
        return None
    return packed.removeprefix(_MAPPED)


def first_forwarded(value: bytes | None) -> bytes | None:
    """Return the first address of an X-Forwarded-For (or Forwarded) field; None if it has none.

    The first is the client, the others are proxies. Names that are no addresses (`unknown`,
    `_hidden`) are passed over.
    """
    for part in _forwarded_parts(value or b""):
        if packed_address(part) is not None:
            return part
    return None


_MAX_FORWARDED: Final = 4096
"""Bytes of a forwarded field that are looked at; a hundred proxies are no genuine chain."""

_FORWARDED_SEPARATOR: Final = re.compile(rb"[,;\s+]+")
"""RFC 7239 has `;` between pairs; W3C logs write `+` for a blank."""


def _forwarded_parts(value: bytes) -> list[bytes]:
    plain = decode_escapes(value[:_MAX_FORWARDED])
    if b"%2" in plain:  # CloudFront encodes blanks, quotes and commas; a zone is left as it is
        plain = unquote_to_bytes(plain)
    parts = _FORWARDED_SEPARATOR.split(plain)
    return [re.sub(rb"(?i)^for=", b"", part.strip(b"\"'")).strip(b"\"'") for part in parts]
