"""Periods of days that share a pseudonym key, and notes on the keys beside their folder.

Here: names of key files, the day on which keys begin to rotate in a folder that had one key, and
`keys.json`. Not here: the keys themselves, and who may read them (`pseudonyms`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

CHECK_DIGITS: Final = 8
"""Digits of a SHA-256 by which a damaged or replaced value is recognised."""

NOTES: Final = "keys.json"
"""Name of the file, beside `secrets`, with a checksum of the key that each file held when lines
were read: eight digits of the SHA-256 of 32 random bytes, which reveal nothing."""

ONE_KEY: Final = "clients.key"
"""The file of the key that is never changed."""

_UNTIL: Final = f"{ONE_KEY} until"
"""Name of the note on the first day for which the one key is not used, in a folder that had it
before its keys began to rotate."""

_BEFORE: Final = -1
"""Number of the period of the days before that."""

_CHECKSUM: Final = re.compile(rf"[0-9a-f]{{{CHECK_DIGITS}}}")
_KEY_NAME: Final = re.compile(r"clients(?:-([0-9]{4}-[0-9]{2}-[0-9]{2})-([0-9]+)d)?\.key")
"""Expression for the name of a key: the only one, or that of a period."""
_EPOCH: Final = dt.date(1970, 1, 1)


class KeyFileError(RuntimeError):
    """Error: a key cannot be used safely; names the file and the remedy, never the key."""


@dataclass(frozen=True, slots=True)
class KeyPeriods:
    """The periods of a state folder, each with a key of its own."""

    rotation_days: int
    one_key_until: dt.date | None = None
    """The first day of the first period, where an older key is kept for the days before."""

    @classmethod
    def of_folder(cls, folder: Path, rotation_days: int, today: dt.date) -> KeyPeriods:
        """Return the periods of a folder `secrets`. Raises `KeyFileError` for a damaged note.

        A folder that has one key keeps it for the period that today is in, so that nobody begins
        anew in the middle of it and no line is read again.
        """
        if rotation_days == 0 or not had_one_key(folder):
            return cls(rotation_days)
        if damage := damaged_notes(folder):
            raise KeyFileError(damage[0])
        noted = _notes(folder).get(_UNTIL)
        if noted is not None:
            return cls(rotation_days, dt.date.fromisoformat(noted.partition(" ")[0]))
        period = (today - _EPOCH).days // rotation_days + 1
        return cls(rotation_days, _EPOCH + dt.timedelta(days=period * rotation_days))

    def of(self, days: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the period of each day (days since 1970-01-01); 0 for all if keys never change.

        Days before 1970, which only a wrong clock writes, belong to the first period.
        """
        if self.rotation_days == 0:
            return np.zeros(len(days), np.int64)
        periods = np.maximum(days, 0).astype(np.int64) // self.rotation_days
        if self.one_key_until is not None:
            periods[days < (self.one_key_until - _EPOCH).days] = _BEFORE
        return periods

    def file(self, period: int) -> str:
        """Return the name of a period's key, which tells its first day and its length."""
        if self.rotation_days == 0 or period == _BEFORE:
            return ONE_KEY
        first = _EPOCH + dt.timedelta(days=period * self.rotation_days)
        return f"clients-{first.isoformat()}-{self.rotation_days}d.key"

    def described(self, today: dt.date) -> str:
        """Return until when the present key is used, in words."""
        if self.rotation_days == 0:
            return "one key for good"
        period = (today - _EPOCH).days // self.rotation_days + 1
        after = self.one_key_until or today
        first = max(after, _EPOCH + dt.timedelta(days=period * self.rotation_days))
        return f"a new key on {first.isoformat()} and every {self.rotation_days} days"


def had_one_key(folder: Path) -> bool:
    """Return True for a folder `secrets` that has one key, or had when keys began to rotate."""
    noted, names = _notes(folder), _names(folder)
    return _UNTIL in noted or names == {ONE_KEY}


def _names(folder: Path) -> set[str]:
    """Return names of all keys that are known, destroyed ones as well."""
    return {*checksums(folder), *(file.name for file in folder.glob("clients*.key"))}


def key_numbers(folder: Path, rotation_days: int, days: Sequence[dt.date]) -> list[int]:
    """Return a number for the key of each day: where it changes, pseudonyms have another key.

    Keys that are noted tell it, destroyed ones as well, also of a rotation that was set before.
    """
    periods = KeyPeriods.of_folder(folder, rotation_days, dt.datetime.now(dt.UTC).date())
    since_epoch = np.array([(day - _EPOCH).days for day in days], np.int32)
    changes = set()
    for match in filter(None, map(_KEY_NAME.fullmatch, _names(folder))):
        if match[1]:
            first = (dt.date.fromisoformat(match[1]) - _EPOCH).days
            changes |= {first, first + int(match[2])}
    edges = np.searchsorted(np.array(sorted(changes), np.int64), since_epoch, "right")
    pairs = zip(periods.of(since_epoch).tolist(), edges.tolist(), strict=True)
    numbers: dict[tuple[int, int], int] = {}
    return [numbers.setdefault(pair, len(numbers)) for pair in pairs]


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksums of the keys of a folder `secrets`; none if the notes are unreadable."""
    return {
        name: checksum for name, checksum in _notes(folder).items() if _KEY_NAME.fullmatch(name)
    }


def damaged_notes(folder: Path) -> list[str]:
    """Return a sentence on damage of the notes, in a list that is empty otherwise."""
    noted, file = _read_notes(folder), folder.parent / NOTES
    if noted is not None and all(_is_as_written(*line) for line in noted.items()):
        return []
    return [
        f"{file}: the notes of the keys of client pseudonyms are damaged. Restore them from a"
        " backup; if they are removed, reading logs notes the keys anew, and where one key was"
        " followed by others the logs that are still there are read again"
    ]


def _is_as_written(name: str, value: str) -> bool:
    if name != _UNTIL:
        return _KEY_NAME.fullmatch(name) is not None and _CHECKSUM.fullmatch(value) is not None
    day, _, digits = value.partition(" ")
    return digits == check(day.encode())


def note(folder: Path, checksum_of_key: dict[str, str], periods: KeyPeriods) -> None:
    """Add a key's checksum to the notes, and the day on which keys begin to rotate, if any."""
    noted = _notes(folder) | checksum_of_key
    if periods.one_key_until is not None:
        day = periods.one_key_until.isoformat()
        noted[_UNTIL] = f"{day} {check(day.encode())}"
    if noted == _notes(folder):
        return
    target = folder.parent / NOTES
    draft = target.with_name(f".{NOTES}.{secrets.token_hex(8)}")
    draft.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n", "ascii")
    draft.replace(target)


def hand_on(folder: Path, other: Path, rotation_days: int) -> None:
    """Note the change days of the keys in another state folder, which has no keys."""
    periods = KeyPeriods.of_folder(folder, rotation_days, dt.datetime.now(dt.UTC).date())
    if periods.one_key_until is not None:
        note(other, {}, periods)


def missing(folder: Path, today: dt.date) -> list[str]:
    """Return names of keys that are gone although their period is not over."""
    return sorted(
        name
        for name in checksums(folder)
        if not _is_over(folder, name, today) and not (folder / name).exists()
    )


def _is_over(folder: Path, name: str, today: dt.date) -> bool:
    match = _KEY_NAME.fullmatch(name)
    if match is None or match[1] is None:
        until = _notes(folder).get(_UNTIL, "").partition(" ")[0]
        return bool(until) and until <= today.isoformat()
    return dt.date.fromisoformat(match[1]) + dt.timedelta(days=int(match[2])) <= today


def _notes(folder: Path) -> dict[str, str]:
    return _read_notes(folder) or {}


def _read_notes(folder: Path) -> dict[str, str] | None:
    """Return the notes beside a folder of keys; None if they are no JSON object."""
    try:
        noted = json.loads((folder.parent / NOTES).read_bytes())
    except OSError:
        return {}
    except ValueError:
        return None
    return (
        {name: str(checksum) for name, checksum in noted.items()}
        if isinstance(noted, dict)
        else None
    )


def check(content: bytes) -> str:
    """Return the check digits of some content."""
    return hashlib.sha256(content).hexdigest()[:CHECK_DIGITS]
