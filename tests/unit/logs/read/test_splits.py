"""Ranges of logs, however packed and damaged: together they are the log, or there is a doubt."""

from __future__ import annotations

import bz2
import io
import random
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import assume, given
from hypothesis import strategies as st

from temporal_assets.logs.read import bzip2_blocks, fingerprint, packed, splits
from temporal_assets.logs.read.bzip2_blocks import DoubtError
from temporal_assets.logs.read.splits import Edges, Range
from temporal_assets.logs.read.streams import open_stream, refusal
from temporal_assets.settings import Reading
from tests.packing import PACKERS, bgzf_member, zstd_frames

KINDS = {"pzstd": "zstd"}
MAGIC = (b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18", b"\x1f\x8b\x08\x04")
"""Bytes with which frames and members begin."""

LONG = random.Random(1).randbytes(150_000).hex().encode()
"""Text of three blocks of bzip2."""


def lines(draw: Any, kind: str) -> list[bytes]:
    """Text in pieces, each packed by itself, with borders anywhere in its lines."""
    words = st.binary(min_size=kind == "bzip2", max_size=40).map(
        lambda word: word.replace(b"\0", b"\n")
    )
    pieces: list[bytes] = draw(st.lists(words, min_size=1, max_size=8))
    if kind == "bzip2" and draw(st.booleans()):
        cut = draw(st.integers(1, 300))
        pieces.insert(0, b"\n".join(LONG[at : at + cut] for at in range(0, len(LONG), cut * 40)))
        pieces.insert(1, LONG)
    return pieces


def read(data: bytes, kind: str, cuts: Sequence[int]) -> tuple[list[bytes], list[Edges]]:
    """Return the text of each range, and what was found at the edges."""
    file = io.BytesIO(data)
    ranges = [Range(*pair) for pair in pairwise([0, *cuts])] + [Range(([0, *cuts])[-1], None)]
    texts = [b"".join(part.lines(file, kind)) for part in ranges]
    return texts, [part.edges for part in ranges]


@st.composite
def divided(draw: Any, kind: str) -> tuple[bytes, bytes, list[int]]:
    """A log's text, its bytes, and the borders of ranges."""
    pieces = lines(draw, kind)
    data = PACKERS[kind](pieces)
    cuts = draw(st.lists(st.integers(1, max(len(data) - 1, 1)), max_size=6).map(sorted))
    return b"".join(pieces), data, cuts


@pytest.mark.parametrize("kind", PACKERS)
@given(given_data=st.data(), read_bytes=st.sampled_from([17, 5000, 1 << 20]))
def test_ranges_are_the_log(kind: str, given_data: st.DataObject, read_bytes: int) -> None:
    text, data, cuts = given_data.draw(divided(kind))
    # A frame that holds the beginning of another is a doubt, and read by one task.
    assume(not any(magic in text for magic in MAGIC))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "READ", read_bytes)
        texts, edges = read(data, KINDS.get(kind, kind), cuts)
    assert b"".join(texts) == text
    assert Edges.fit(edges)
    # Lines begin where those of the range before end.
    for before in (part for part in texts[:-1] if part):
        assert before.endswith(b"\n") or before == texts[-1] or text.endswith(before)


@pytest.mark.parametrize("kind", PACKERS)
@given(given_data=st.data())
def test_what_one_reading_complains_of_is_a_doubt(
    kind: str, given_data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Ranges that fit have the text of one reading, and that had no problem."""
    _, data, cuts = given_data.draw(divided(kind))
    damage = given_data.draw(st.sampled_from(["flip", "truncate", "append", "zeros", "remove"]))
    at = given_data.draw(st.integers(0, len(data) - 1)) if data else 0
    broken = (
        {
            "flip": lambda: data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :],
            "truncate": lambda: data[:at],
            "append": lambda: data + b"garbage"[: 1 + at % 7],
            "zeros": lambda: data + bytes(1 + at % 9),
            "remove": lambda: data[:at] + data[at + 1 + at % 50 :],
        }[damage]()
        if data
        else b""
    )
    path = tmp_path_factory.getbasetemp() / f"damaged-{kind}"
    path.write_bytes(broken)
    with path.open("rb") as file:
        if splits.kind_of(file) != KINDS.get(kind, kind):
            return  # it is something else now
    try:
        texts, edges = read(broken, KINDS.get(kind, kind), cuts)
    except DoubtError:
        assert kind != "plain"
        return
    if not Edges.fit(edges):
        return
    # No line is cut: what ranges read is compared before their streams cut it.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reading, "max_line_bytes", 1 << 20)
        with open_stream(path, Reading()) as stream:
            whole = b"".join(block.data.tobytes() for block in stream)
    text = b"".join(texts)
    if kind == "plain" or refusal(text[:512]) or text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return  # which the stream of the first range says, whatever the others have
    assert stream.problem is None
    assert whole == text.removeprefix(BOM_UTF8)


@pytest.mark.parametrize("kind", PACKERS)
@given(given_data=st.data())
def test_a_stream_of_each_range_has_the_digest_of_the_log(
    kind: str, given_data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, data, cuts = given_data.draw(divided(kind))
    path = tmp_path_factory.getbasetemp() / f"whole-{kind}"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "BEGINNING", given_data.draw(st.integers(0, 50)))
        with open_stream(path, Reading()) as stream:
            for _ in stream:
                pass
            whole, count = stream.digest, stream.lines
        parts = []
        for start, stop in pairwise([0, *cuts, None]):
            with open_stream(path, Reading(), part=Range(start or 0, stop)) as stream:
                for _ in stream:
                    pass
                if stream.part is None:  # a single frame, or none
                    return
                parts.append((stream.digest, stream.lines))
        first = parts[0][0]
        if first.is_joinable or not any(digest.size for digest, _ in parts[1:]):
            joined = reduce(lambda a, b: a.then(b[0].rest), parts[1:], first)
            assert joined == whole
            assert joined.hex() == whole.hex()
        assert sum(lines for _, lines in parts) == count


def test_known_bytes_within_a_frame_are_no_frame() -> None:
    """Text that cannot be packed is stored as it is, and may hold anything."""
    noise = random.Random(2)
    texts = [noise.randbytes(50) + b"\x28\xb5\x2f\xfd" + noise.randbytes(50) for _ in range(3)]
    data = b"".join(map(zstandard.compress, texts))
    doubts = 0
    for cut in range(1, len(data)):
        try:
            parts, edges = read(data, "zstd", [cut])
        except DoubtError:
            doubts += 1
            continue
        assert not Edges.fit(edges) or b"".join(parts) == b"".join(texts)
    assert 0 < doubts < len(data)


def test_known_bits_within_a_block_are_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bz2.compress(LONG, 1)
    right = bzip2_blocks._marks

    def deceived(*of: Any) -> list[Any]:
        marks = right(*of)
        return sorted([*marks, marks[0]._replace(bit=marks[0].bit + 5000)])

    monkeypatch.setattr(bzip2_blocks, "_marks", deceived)
    with pytest.raises(DoubtError):
        read(data, "bzip2", [])


def test_a_range_unpacks_no_bomb() -> None:
    bomb = b"".join(bz2.compress(bytes(900_000)) for _ in range(20))
    with pytest.raises(DoubtError):
        read(bomb, "bzip2", [])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"one\ntwo\n", "plain"),
        (b"", "plain"),
        (bz2.compress(b"one\n"), "bzip2"),
        (zstandard.compress(b"one\n"), None),
        (zstandard.compress(b"one\n") * 2, "zstd"),
        (zstd_frames(b"one\n"), "zstd"),
        (bgzf_member(b"one\n"), "bgzf"),
        (b"\x1f\x8b\x08\x00" + bytes(30), None),
        (b"\xfd7zXZ\x00" + bytes(30), None),
    ],
)
def test_what_can_be_divided(data: bytes, kind: str | None) -> None:
    assert splits.kind_of(io.BytesIO(data)) == kind


def test_only_lines_that_follow_one_another_are_divided(tmp_path: Path) -> None:
    for data in (b'[{"a": 1}, {"a": 2}]', "one\n".encode("utf-16"), b"PK\x03\x04", b"PAR1"):
        path = tmp_path / "log"
        path.write_bytes(data)
        with open_stream(path, Reading(), part=Range(0, None)) as stream:
            assert stream.part is None
