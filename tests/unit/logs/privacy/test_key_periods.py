"""Keys of pseudonyms by day, and folders that had one key before keys rotated."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest

from temporal_assets.landing.reading_options import options_digest
from temporal_assets.logs.privacy import key_periods, pseudonyms
from temporal_assets.logs.privacy.key_periods import NOTES, KeyFileError, KeyPeriods, key_numbers
from temporal_assets.logs.privacy.pseudonyms import KeyRing, hmac_heads
from temporal_assets.settings import LogSource, Privacy, load_settings

TODAY = dt.date(2026, 11, 28)
NEXT = dt.date(2027, 2, 1)
"""The first day of the next period of 150 days."""


def since_epoch(*days: dt.date) -> np.ndarray:
    return np.array([(day - dt.date(1970, 1, 1)).days for day in days], np.int32)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The folder `secrets` of an installation that had one key."""
    folder = tmp_path / "secrets"
    KeyRing(folder, 0).key(0)
    return folder


def test_keys_rotate_by_default(tmp_path: Path) -> None:
    days = Privacy().rotation_days
    assert days == 150
    periods = KeyPeriods.of_folder(tmp_path / "secrets", days, TODAY)
    before, after = periods.of(since_epoch(NEXT - dt.timedelta(days=1), NEXT)).tolist()
    assert [periods.file(period) for period in (before, after)] == [
        "clients-2026-09-04-150d.key",
        "clients-2027-02-01-150d.key",
    ]


def test_one_key_stays_until_the_present_period_ends(old: Path) -> None:
    periods = KeyPeriods.of_folder(old, 150, TODAY)
    assert periods.one_key_until == NEXT
    days = since_epoch(dt.date(1999, 1, 1), TODAY, NEXT - dt.timedelta(days=1), NEXT)
    files = [periods.file(period) for period in periods.of(days).tolist()]
    assert files == ["clients.key"] * 3 + ["clients-2027-02-01-150d.key"]
    assert periods.described(TODAY) == "a new key on 2027-02-01 and every 150 days"


def test_the_day_is_noted_and_does_not_move(old: Path) -> None:
    ring = KeyRing(old, 150)
    (period,) = ring.period(since_epoch(dt.date(2020, 1, 1)))
    assert ring.file(period).name == "clients.key"
    names = (hmac_heads(key, [b"192.0.2.1"]) for key in (ring.key(period), KeyRing(old, 0).key(0)))
    assert len({int(name[0]) for name in names}) == 1
    noted = KeyPeriods.of_folder(old, 150, TODAY).one_key_until
    assert noted is not None
    later = noted + dt.timedelta(days=400)
    assert KeyPeriods.of_folder(old, 150, later).one_key_until == noted
    (period,) = ring.period(since_epoch(later))
    ring.key(int(period))
    assert KeyPeriods.of_folder(old, 150, later).one_key_until == noted
    assert pseudonyms.troubles(old) == []


def test_what_was_read_under_one_key_is_not_read_again(old: Path) -> None:
    """Nor is it when the note of the day is written; a folder without keys is another matter."""

    def digest(state: Path, rotation: int) -> str:
        settings = load_settings(state, privacy={"rotation_days": rotation})
        return options_digest(LogSource(path="access.log"), settings)

    before = digest(old.parent, 0)
    assert digest(old.parent, 150) == before
    KeyRing(old, 150).key(int(KeyRing(old, 150).period(since_epoch(TODAY))[0]))
    assert NOTES in [file.name for file in old.parent.iterdir()]
    assert digest(old.parent, 150) == before
    assert digest(old / "elsewhere", 150) != before


def test_a_folder_whose_keys_rotated_already_keeps_on(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    KeyRing(folder, 7).key(2000)
    KeyRing(folder, 0).key(0)  # a leftover of other settings
    assert KeyPeriods.of_folder(folder, 7, TODAY) == KeyPeriods(7)


def test_every_flipped_bit_of_the_notes_is_found(old: Path) -> None:
    key = KeyRing(old, 150)
    key.key(int(key.period(since_epoch(TODAY))[0]))
    notes = old.parent / NOTES
    whole = notes.read_bytes()
    assert "clients.key until" in json.loads(whole)
    for at in range(len(whole)):
        for bit in range(8):
            notes.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            assert pseudonyms.troubles(old), (at, bit)
    notes.write_bytes(whole.replace(b"clients.key until", b"clients.key unti1"))
    with pytest.raises(KeyFileError, match=r"keys\.json: the notes .* damaged"):
        KeyRing(old, 150)


def test_the_one_key_may_be_destroyed_when_its_days_are_over(old: Path) -> None:
    ring = KeyRing(old, 150)
    ring.key(int(ring.period(since_epoch(dt.date(2020, 1, 1)))[0]))
    until = KeyPeriods.of_folder(old, 150, TODAY).one_key_until
    assert until is not None
    (old / "clients.key").unlink()
    assert key_periods.missing(old, until - dt.timedelta(days=1)) == ["clients.key"]
    assert key_periods.missing(old, until) == []
    assert KeyPeriods.of_folder(old, 150, TODAY).one_key_until == until


def test_the_keys_of_a_window_are_told_apart(tmp_path: Path, old: Path) -> None:
    days = [NEXT + dt.timedelta(days=n) for n in range(-2, 2)]
    assert key_numbers(tmp_path / "none" / "secrets", 150, days) == [0, 0, 1, 1]
    assert key_numbers(tmp_path / "none" / "secrets", 0, days) == [0, 0, 0, 0]
    past = [dt.date(2026, 9, 3), dt.date(2026, 9, 4)]
    assert key_numbers(old, 150, past) == [0, 0]  # a period begins, but the one key was kept
    assert key_numbers(tmp_path / "none" / "secrets", 150, past) == [0, 1]


def test_destroyed_keys_and_an_earlier_rotation_are_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    weekly = KeyRing(folder, 7)
    weekly.key(0)
    weekly.file(0).unlink()
    days = [dt.date(1970, 1, 1) + dt.timedelta(days=n) for n in (5, 6, 7, 8)]
    assert key_numbers(folder, 0, days) == [0, 0, 1, 1]


def test_a_trial_of_other_settings_knows_when_keys_change(old: Path, tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    other = tmp_path / "trial" / "secrets"
    key_periods.hand_on(old, other, 150)
    present = KeyPeriods.of_folder(old, 150, dt.datetime.now(dt.UTC).date())
    assert KeyPeriods.of_folder(other, 150, TODAY) == present
    assert key_periods.missing(other, TODAY) == []
    assert not other.exists()
