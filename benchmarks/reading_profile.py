"""Microseconds of a log line by format and step, beside what each step cannot beat.

    python -m benchmarks.reading_profile FOLDER --files 4

FOLDER is that of a fraction which `paper_scale` has made. One thread reads some logs of every
format that were read once before, so that loops are compiled and memories filled as in the middle
of a backfill. Processor time; three times, the fastest counts. The limits are those of the
libraries on the same bytes: decompressing, the digest of a file, and for JSON decoding each line
with orjson without looking at what it holds.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import orjson
import zstandard
from blake3 import blake3
from isal import igzip

from temporal_assets.landing.segments import SegmentWriter
from temporal_assets.logs.clean.agents import is_bot
from temporal_assets.logs.clean.cleaning import Cleaner
from temporal_assets.logs.detect.resolve import resolve
from temporal_assets.logs.formats import parsing
from temporal_assets.logs.privacy.pseudonyms import KeyRing
from temporal_assets.logs.read import streams
from temporal_assets.logs.read.memo import Memo
from temporal_assets.settings import LogSource, Settings, load_settings

_REPEATS: Final = 3
_STEPS: Final = ("stream", "parse", "clean", "write")


def main() -> None:
    """Print a row per format."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="a fraction made by paper_scale")
    parser.add_argument("--files", type=int, default=4, help="logs of each format")
    arguments = parser.parse_args()
    settings = load_settings(arguments.folder / "state")
    sources = {source.format: source for source in settings.sources}
    print("microseconds of processor time a line")
    print(
        f"{'format':16}{'lines':>9}" + "".join(f"{step:>9}" for step in (*_STEPS, "in all")), end=""
    )
    print(f"{'unpack':>9}{'digest':>9}{'orjson':>9}")
    for name, source in sorted(sources.items()):
        paths = sorted(Path(source.path).iterdir())[: arguments.files]
        with tempfile.TemporaryDirectory() as folder:
            taken, lines = _read(settings, source, paths, Path(folder))
        limits = _limits(paths, is_json=name.endswith("json"))
        row = [*taken.values(), sum(taken.values()), *limits]
        print(
            f"{name:16}{lines:>9,}" + "".join(f"{seconds / lines * 1e6:>9.2f}" for seconds in row)
        )


def _read(
    settings: Settings, source: LogSource, paths: list[Path], folder: Path
) -> tuple[dict[str, float], int]:
    """(seconds of each step, lines), the fastest of some times after one that does not count."""
    keys = KeyRing(folder / "keys", settings.privacy.rotation_days)
    cleaner = Cleaner(source, settings, keys, Memo(is_bot), dt.datetime.now(dt.UTC))
    best = dict.fromkeys(_STEPS, float("inf"))
    lines = 0
    for repeat in range(_REPEATS + 1):
        taken = dict.fromkeys(_STEPS, 0.0)
        lines = sum(
            _read_file(
                settings, source, cleaner, path, _new_folder(folder / f"{repeat}-{n}"), taken
            )
            for n, path in enumerate(paths)
        )
        if repeat:
            best = {step: min(best[step], taken[step]) for step in _STEPS}
    return best, lines


def _new_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _read_file(
    settings: Settings,
    source: LogSource,
    cleaner: Cleaner,
    path: Path,
    folder: Path,
    taken: dict[str, float],
) -> int:
    lines = 0
    state: parsing.State = None
    writer = SegmentWriter(folder, folder.name)
    with streams.open_stream(path, settings.reading, []) as stream:
        fmt = resolve(source, stream.head)
        blocks = iter(stream)
        while True:
            with _timed(taken, "stream"):
                block = next(blocks, None)
            if block is None:
                break
            with _timed(taken, "parse"):
                records = parsing.parse(block, fmt, source, settings.reading, state)
                state = parsing.advance(block, fmt, state, source)
            with _timed(taken, "clean"):
                cleaned = cleaner.clean(records)
            with _timed(taken, "write"):
                writer.add(cleaned)
            lines += len(records)
    with _timed(taken, "write"):
        writer.close()
    return lines


@contextmanager
def _timed(taken: dict[str, float], step: str) -> Iterator[None]:
    started = time.process_time()
    yield
    taken[step] += time.process_time() - started


def _limits(paths: list[Path], *, is_json: bool) -> list[float]:
    """Seconds that decompressing, hashing and decoding take by themselves."""
    packed = [path.read_bytes() for path in paths]
    unpack = {".gz": igzip.decompress, ".zst": _unpack_zstd}.get(paths[0].suffix, _as_it_is)
    texts = [unpack(compressed) for compressed in packed]
    limits = [
        _fastest(lambda: [unpack(compressed) for compressed in packed]),
        _fastest(lambda: [blake3(text).digest() for text in texts]),
    ]
    if is_json:
        lines = [line for text in texts for line in text.splitlines()]
        limits.append(_fastest(lambda: [_decode(line) for line in lines]))
    return limits


def _unpack_zstd(packed: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(packed)


def _decode(line: bytes) -> None:
    with suppress(orjson.JSONDecodeError):  # lines of robots that are no JSON
        orjson.loads(line)


def _as_it_is(text: bytes) -> bytes:
    return text


def _fastest(action: Callable[[], Any]) -> float:
    times = []
    for _ in range(_REPEATS):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    main()
