"""Cost of each task that reads a share of one large log, by the kind of archive.

    python -m benchmarks.shares [--megabytes 200] [--shares 1 2] [--kinds plain bzip2]

Shares are read one after the other, in this process. Processor seconds of all of them say what the
work grows by; those of the longest say how long the log takes on as many cores.
"""

from __future__ import annotations

import argparse
import bz2
import datetime as dt
import gzip
import random
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import zstandard

from temporal_assets.landing.inventory import Inventory
from temporal_assets.landing.reading import Draft, LogReader, ReadApart, Share
from temporal_assets.landing.source_files import pending_files
from temporal_assets.settings import load_settings

_DAY: Final = dt.datetime(2026, 3, 2)
_AGENT: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/"

PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "plain": lambda text: text,
    "bzip2": bz2.compress,
    "gzip": lambda text: gzip.compress(text, 6),
    "zstd": zstandard.compress,
    "zstd frames": lambda text: b"".join(
        zstandard.compress(text[at : at + (8 << 20)]) for at in range(0, len(text), 8 << 20)
    ),
}


def log_of(size: int) -> bytes:
    """Return a log of a day with some hundred thousand visitors and pages."""
    chance = random.Random(1)
    lines, written = [], 0
    while written < size:
        seconds = 86_400 * written // size
        page = int(chance.paretovariate(0.7)) % 100_000
        address = ".".join(str(chance.randrange(256)) for _ in range(3))
        lines.append(
            f"10.{address} - - [{_DAY + dt.timedelta(seconds=seconds):%d/%b/%Y:%H:%M:%S} +0000]"
            f' "GET /news/{page % 90}/story-{page}.html HTTP/1.1" 200 {chance.randrange(90_000)}'
            f' "https://www.example.com/{page % 7}" "{_AGENT}{chance.randrange(60, 140)}"\n'
        )
        written += len(lines[-1])
    return "".join(lines).encode()


def measure(folder: Path, kind: str, text: bytes, counts: list[int]) -> None:
    """Print a line for each number of shares."""
    log = folder / "logs" / "access.log"
    log.parent.mkdir(exist_ok=True)
    log.write_bytes(PACKERS[kind](text))
    source = {"path": str(log), "host": "www.example.com"}
    for count in counts:
        settings = load_settings(folder / f"{kind}-{count}", sources=[source])
        settings.make_state()
        inventory = Inventory.load(settings)
        scratch = settings.state / "tmp"
        scratch.mkdir(exist_ok=True)
        (item,) = pending_files(inventory, settings)
        reader = LogReader(settings, inventory, scratch, dt.datetime.now(dt.UTC))
        read = ReadApart.of(reader)
        outcomes, seconds = [], []
        for number in range(count):
            began = time.process_time()
            outcomes.append(read.share((item, Share(number, count, item.sighting.size)))[0])
            seconds.append(time.process_time() - began)
        draft = reader.joined(item, outcomes)
        if not isinstance(draft, Draft):
            raise SystemExit(f"{kind}: shares do not fit")
        each = " ".join(f"{second:6.1f}" for second in seconds)
        print(
            f"{kind:12} {item.sighting.size >> 20:5} MB {draft.file.lines:10,} lines,"
            f" {count} shares: {each} s, together {sum(seconds):6.1f}, longest {max(seconds):6.1f}",
            flush=True,
        )


def main() -> None:
    """Measure all kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--shares", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--kinds", nargs="+", default=[*PACKERS], choices=PACKERS)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        measure(Path(folder), "plain", log_of(4 << 20), [1])  # compiles the loops
        text = log_of(options.megabytes << 20)
        for kind in options.kinds:
            measure(Path(folder), kind, text, options.shares)


if __name__ == "__main__":
    main()
