"""The digest by which a log is known, whatever its name and however it is packed.

Tasks that read a large file in shares each see their own part of the text. So the digest is BLAKE3
of the first 64 MiB, and behind them a sum that shares compute apart (`core.numerics.text_sum`).
Until there were shares it was BLAKE3 of the whole text, by which older records know their files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from blake3 import blake3

from temporal_assets.core.numerics.text_sum import TextSum, text_sum

DIGEST_BYTES: Final = 16
"""128 bits: no two files collide by accident."""

BEGINNING: Final = 64 << 20
"""Bytes of text whose digest is BLAKE3; the first share of a large file has more."""


class TextDigest(NamedTuple):
    """The digest of a text, to which that of more text can be joined."""

    beginning: bytes
    """BLAKE3 of the beginning."""
    size: int
    rest: TextSum
    """Sum of what follows the beginning."""

    def then(self, more: TextSum) -> TextDigest:
        """Return the digest of this text, which has a whole beginning, followed by another."""
        return TextDigest(self.beginning, self.size + more.size, self.rest.then(more))

    @property
    def is_joinable(self) -> bool:
        """True if the beginning is whole."""
        return self.size >= BEGINNING

    def hex(self) -> str:
        """Return 32 hexadecimal digits."""
        if not self.rest.size:
            return self.beginning.hex()
        rest = self.rest.size.to_bytes(8) + self.rest.value.to_bytes(8)
        return blake3(self.beginning + rest).hexdigest(length=DIGEST_BYTES)


class Fingerprint:
    """The digest of all bytes, and of the beginnings that other files are known to have."""

    def __init__(
        self, checkpoints: Sequence[int] = (), *, with_former: bool = False, is_rest: bool = False
    ) -> None:
        """Begin with nothing.

        Args:
            checkpoints: Sizes of beginnings whose digests are wanted.
            with_former: True if the digests that were used until there were shares are wanted too.
            is_rest: True if the text follows one with a whole beginning.
        """
        self.size = 0
        self.prefixes: dict[int, frozenset[str]] = {}
        self._hash = blake3()
        self._rest = TextSum()
        self._former = blake3() if with_former else None
        """Digest as it was until there were shares."""
        self._beginning = 0 if is_rest else BEGINNING
        self._pending = sorted(set(checkpoints), reverse=True)

    def update(self, chunk: bytes) -> None:
        """Add the next bytes."""
        rest = memoryview(chunk)
        while self._pending and self._pending[-1] <= self.size + len(rest):
            checkpoint = self._pending.pop()
            here = checkpoint - self.size
            self._add(rest[:here])
            rest = rest[here:]
            self.prefixes[checkpoint] = self.all_hex()
        self._add(rest)

    def digest(self) -> TextDigest:
        """Return the digest of all bytes so far."""
        return TextDigest(self._hash.digest(length=DIGEST_BYTES), self.size, self._rest)

    def all_hex(self) -> frozenset[str]:
        """Return the digest, and what it was until there were shares, if that is wanted."""
        former = [self._former.hexdigest(length=DIGEST_BYTES)] if self._former else []
        return frozenset([self.digest().hex(), *former])

    def _add(self, text: memoryview) -> None:
        if self._former:
            self._former.update(text)
        first = max(self._beginning - self.size, 0)
        self._hash.update(text[:first])
        if len(text) > first:
            self._rest = self._rest.then(text_sum(text[first:]))
        self.size += len(text)
