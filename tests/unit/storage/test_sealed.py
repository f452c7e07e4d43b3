"""Records that tell whether they are as they were written."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_assets.storage.integrity import DamagedFile
from temporal_assets.storage.manifest import DataFile, Input, Manifest, ManifestError
from temporal_assets.storage.retained_days import RetainedDays, keep
from temporal_assets.storage.sealed import sealed, unsealed

DAY = dt.date(2026, 3, 31)
MANIFEST = Manifest(
    asset="page_views",
    day=DAY,
    files=(DataFile("part-0123456789abcdef.parquet", 10, 999, "0123456789abcdef" * 2),),
    schema_version=1,
    inputs=(Input("requests/2026-03-31", "fedcba9876543210"),),
    settings_digest="44136fa355b3678a",
    extra={"lines": 384, "losses": [{"reason": "bad_time", "lines": 2}]},
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


# A strategy also tries the constants of the code, so the name of the seal among them.
NAMES = st.text().filter(lambda name: name != "record_digest")


@given(st.dictionaries(NAMES, VALUES))
def test_what_was_written_is_read(fields: dict[str, object]) -> None:
    assert unsealed(sealed(fields)) == json.loads(json.dumps(fields))


def test_no_flipped_bit_makes_another_manifest() -> None:
    text = MANIFEST.to_json().encode()
    assert Manifest.from_json(text) == MANIFEST
    for at in range(len(text)):
        for bit in range(8):
            flipped = text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :]
            with pytest.raises(ManifestError):
                assert Manifest.from_json(flipped) != MANIFEST, (at, bit)


def test_files_beside_are_told_where_there_are_any() -> None:
    """A release that does not know of any reads what has none."""
    assert "beside" not in MANIFEST.to_json()
    both = replace(MANIFEST, beside=MANIFEST.files)
    assert Manifest.from_json(both.to_json()) == both
    wrong = replace(both, beside=(DataFile("../elsewhere.parquet", 1, 1, ""),))
    with pytest.raises(ManifestError, match="no publish"):
        Manifest.from_json(wrong.to_json())


def test_manifests_from_before_there_were_seals_are_believed() -> None:
    fields = unsealed(MANIFEST.to_json())
    assert Manifest.from_json(json.dumps(fields)) == MANIFEST


@pytest.mark.parametrize("value", [None, "", "0", 1])
def test_no_record_has_a_seal_of_its_own(value: object) -> None:
    with pytest.raises(ValueError, match="no field 'record_digest' of its own"):
        sealed({"a": 1, "record_digest": value})


@pytest.mark.parametrize(
    "text",
    ["", "[]", "1", "null", '{"a": 1, "record_digest": "0"}', '{"a": 1, "record_digest": null}'],
)
def test_what_is_no_record(text: str) -> None:
    with pytest.raises(ValueError, match=r"no record|not what was written|Expecting value"):
        unsealed(text)


def test_the_first_kept_day_is_no_other_by_a_flipped_bit(tmp_path: Path) -> None:
    keep(tmp_path, DAY, None)
    assert RetainedDays.load(tmp_path) == RetainedDays(DAY, None)
    file = tmp_path / "kept.json"
    file.write_text(file.read_text().replace("2026-03-31", "2026-03-30"))
    with pytest.raises(DamagedFile, match="restore it from a backup"):
        RetainedDays.load(tmp_path)
